import type { JsonObject } from '../json';
import type { ModelRuntime } from '../server/runtime';
import { found, openAiList, without, type Metadata } from './endpoint';

const CREATED = 1_780_000_000;

/** What a list says: a catalogue figure where one is set, else the truth. */
function listed(model: ModelRuntime): { window: number | null; input: number | null; output: number | null } {
  const { spec } = model;
  const window = spec.facts.listedWindow === undefined ? (spec.declaredWindow ?? spec.window) : spec.facts.listedWindow;
  const output = spec.facts.listedOutput === undefined ? spec.outputMax : spec.facts.listedOutput;
  return { window, input: spec.inputMax ?? window, output };
}

function plain(model: ModelRuntime, owner: string, more: JsonObject = {}): JsonObject {
  return without({ id: model.name, object: 'model', created: CREATED, owned_by: owner, ...more }, model.spec.facts.without);
}

/** A list of models in the vendor's own shape, at the path where the vendor has it. */
export const vendorLists: Metadata = (server, { method, path }) => {
  if (method !== 'GET') return undefined;
  const models = [...server.models.values()];
  switch (server.kind) {
    case 'anthropic':
      if (!path.endsWith('/v1/models')) return undefined;
      return found({
        data: models.map((model) => {
          const { input, output } = listed(model);
          const row = {
            type: 'model',
            id: model.name,
            display_name: model.name,
            created_at: '2026-06-01T00:00:00Z',
            max_input_tokens: input,
            max_tokens: output,
          };
          return without(row, model.spec.facts.without);
        }),
        has_more: false,
        first_id: models[0]?.name ?? null,
        last_id: models.at(-1)?.name ?? null,
      });
    case 'gemini':
    case 'gemini-compat':
      if (path.endsWith('/openai/models')) return openAiList(models.map((model) => plain(model, 'google')));
      if (!path.endsWith('/models')) return undefined;
      return found({
        models: models.map((model) => {
          const { input, output } = listed(model);
          const row = {
            name: `models/${model.name}`,
            version: '001',
            displayName: model.name,
            inputTokenLimit: input,
            outputTokenLimit: output,
            supportedGenerationMethods: ['generateContent', 'countTokens'],
          };
          return without(row, model.spec.facts.without);
        }),
      });
    case 'codex':
      if (!path.endsWith('/models')) return undefined;
      return found({
        models: models.map((model) => {
          const { window } = listed(model);
          const row = {
            slug: model.name,
            display_name: model.name,
            context_window: window,
            max_context_window: model.spec.facts.trained ?? window,
            supported_in_api: true,
            input_modalities: ['text', 'image'],
          };
          return without(row, model.spec.facts.without);
        }),
      });
    case 'openrouter':
      if (!path.endsWith('/models')) return undefined;
      return found({
        data: models.map((model) => {
          const { window, output } = listed(model);
          const row = {
            id: model.name,
            canonical_slug: model.name,
            name: model.name,
            created: CREATED,
            // The largest window over all providers; the one that answers may have less.
            context_length: model.spec.facts.trained ?? window,
            architecture: { modality: 'text->text', tokenizer: 'Other', instruct_type: null },
            pricing: { prompt: '0', completion: '0' },
            top_provider: { context_length: window, max_completion_tokens: output, is_moderated: false },
            supported_parameters: ['tools', 'max_tokens'],
          };
          return without(row, model.spec.facts.without);
        }),
      });
    case 'mistral':
      if (!path.endsWith('/v1/models')) return undefined;
      return openAiList(
        models.map((model) =>
          plain(model, 'mistralai', {
            capabilities: { completion_chat: true, function_calling: true, vision: false },
            max_context_length: listed(model).window,
          }),
        ),
      );
    case 'groq':
      if (!path.endsWith('/v1/models')) return undefined;
      return openAiList(
        models.map((model) =>
          plain(model, 'groq', {
            active: true,
            context_window: listed(model).window,
            max_completion_tokens: listed(model).output,
          }),
        ),
      );
    case 'together':
      if (!path.endsWith('/v1/models')) return undefined;
      return found(models.map((model) => plain(model, 'together', { type: 'chat', context_length: listed(model).window })));
    default:
      return /\/models$/.test(path) ? openAiList(models.map((model) => plain(model, server.kind))) : undefined;
  }
};
