import { textOf, type JsonObject } from '../json';
import { load, trainedOf, type ModelRuntime, type ServerRuntime } from '../server/runtime';
import { found, openAiList, without, type Metadata, type MetadataReply } from './endpoint';

function props(model: ModelRuntime | undefined): JsonObject {
  const facts = model?.spec.facts;
  return without(
    {
      default_generation_settings: { n_ctx: model?.served ?? 0, temperature: 0.8 },
      total_slots: facts?.slots ?? 1,
      model_path: model === undefined ? '' : `/models/${model.name}.gguf`,
      chat_template: 'simulated',
      modalities: { vision: false, audio: false },
      is_sleeping: facts?.sleeping ?? false,
    },
    facts?.without ?? [],
  );
}

function slots(model: ModelRuntime | undefined): MetadataReply {
  if (model === undefined) return found([]);
  if (model.spec.facts.without.includes('slots'))
    return {
      status: 501,
      body: { error: { code: 501, message: 'This server does not support slots endpoint.', type: 'not_supported_error' } },
    };
  return found(Array.from({ length: model.spec.facts.slots }, (_, id) => ({ id, n_ctx: model.served, is_processing: false })));
}

function listRow(model: ModelRuntime): JsonObject {
  const meta = {
    vocab_type: 2,
    n_vocab: 128_256,
    n_ctx_train: trainedOf(model),
    n_embd: 4096,
    n_params: 8_030_261_248,
    size: 4_661_211_136,
    ...(model.served === undefined ? {} : { n_ctx: model.served }),
  };
  return {
    id: model.name,
    object: 'model',
    created: 1_780_000_000,
    owned_by: 'llamacpp',
    meta: model.served === undefined ? null : without(meta, model.spec.facts.without),
  };
}

function routerRow(model: ModelRuntime): JsonObject {
  const value = model.served === undefined ? 'unloaded' : model.spec.facts.sleeping ? 'sleeping' : 'loaded';
  return {
    id: model.name,
    object: 'model',
    owned_by: 'llamacpp',
    in_cache: true,
    path: `/models/${model.name}.gguf`,
    status: {
      value,
      args: ['llama-server', '-m', `/models/${model.name}.gguf`, '-c', String(model.spec.window * model.spec.facts.slots)],
    },
  };
}

/** In router mode a bare /props knows no window, and /props of a model loads it unless autoload=false. */
function routerProps(server: ServerRuntime, query: URLSearchParams): MetadataReply {
  const name = query.get('model');
  if (name === null) return found(props(undefined));
  const model = server.models.get(name);
  if (model === undefined)
    return { status: 404, body: { error: { code: 404, message: 'model not found', type: 'not_found_error' } } };
  if (model.served === undefined && query.get('autoload') === 'false')
    return { status: 400, body: { error: { code: 400, message: 'model is not loaded', type: 'invalid_request_error' } } };
  load(model);
  return found(props(model));
}

export const llamacppMetadata: Metadata = (server, { method, path, query, body }) => {
  const models = [...server.models.values()];
  switch (`${method} ${path}`) {
    case 'GET /health':
      return found({ status: 'ok' });
    case 'GET /props':
      return server.router ? routerProps(server, query) : found(props(models[0]));
    case 'GET /slots':
      return slots(server.router ? undefined : models[0]);
    case 'GET /v1/models':
      return openAiList(models.map(listRow));
    case 'GET /models':
      return server.router ? openAiList(models.map(routerRow)) : openAiList(models.map(listRow));
    case 'POST /models/load':
    case 'POST /models/unload': {
      const model = server.models.get(textOf(body['model']));
      if (model === undefined)
        return { status: 404, body: { error: { code: 404, message: 'model not found', type: 'not_found_error' } } };
      if (path.endsWith('/unload')) model.served = undefined;
      else load(model);
      return found({ success: true });
    }
    default:
      return undefined;
  }
};
