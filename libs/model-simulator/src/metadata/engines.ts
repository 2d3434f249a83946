import type { JsonObject } from '../json';
import type { ModelRuntime } from '../server/runtime';
import { found, openAiList, without, type Metadata } from './endpoint';

/** A LoRA row has no window of its own. */
function row(model: ModelRuntime, owner: string): JsonObject {
  const { facts, window } = model.spec;
  return without(
    {
      id: model.name,
      object: 'model',
      created: 1_780_000_000,
      owned_by: owner,
      root: facts.loraOf === undefined ? `simulator/${model.name}` : `/adapters/${model.name}`,
      parent: facts.loraOf ?? null,
      max_model_len: facts.loraOf === undefined ? (facts.listedWindow === undefined ? window : facts.listedWindow) : null,
      permission: [],
    },
    facts.without,
  );
}

export const vllmMetadata: Metadata = (server, { method, path }) => {
  switch (`${method} ${path}`) {
    case 'GET /v1/models':
      return openAiList([...server.models.values()].map((model) => row(model, 'vllm')));
    case 'GET /version':
      return found({ version: server.version ?? '0.11.0' });
    case 'GET /health':
      return found('');
    default:
      return undefined;
  }
};

/** The effective limit is the smallest of three figures: window, largest input, KV pool. */
export const sglangMetadata: Metadata = (server, { method, path }) => {
  const models = [...server.models.values()];
  const base = models.find((model) => model.spec.facts.loraOf === undefined);
  if (method !== 'GET') return undefined;
  switch (path) {
    case '/v1/models':
      return openAiList(models.map((model) => row(model, 'sglang')));
    case '/get_model_info':
    case '/model_info':
      return found({ model_path: base?.name ?? '', tokenizer_path: base?.name ?? '', is_generation: true });
    case '/get_server_info':
    case '/server_info': {
      const window = base?.spec.window ?? 0;
      const { facts } = base?.spec ?? {};
      return found(
        without(
          {
            model_path: base?.name ?? '',
            context_length: window,
            max_total_num_tokens: facts?.kvTokens ?? window * 4,
            max_req_input_len: facts?.inputLimit ?? window - 6,
            version: server.version ?? '0.5.4',
            internal_states: [{ last_gen_throughput: 0 }],
          },
          facts?.without ?? [],
        ),
      );
    }
    case '/health':
      return found('');
    default:
      return undefined;
  }
};
