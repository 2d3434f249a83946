import { numberOf, textOf, type JsonObject } from '../json';
import { load, trainedOf, type ModelRuntime } from '../server/runtime';
import { found, openAiList, without, type Metadata } from './endpoint';

function v0Row(model: ModelRuntime): JsonObject {
  const { facts } = model.spec;
  const row = {
    id: model.name,
    object: 'model',
    type: facts.type,
    publisher: 'simulator',
    arch: facts.architecture,
    compatibility_type: 'gguf',
    quantization: facts.quantization,
    state: model.served === undefined ? 'not-loaded' : 'loaded',
    max_context_length: trainedOf(model),
    ...(model.served === undefined ? {} : { loaded_context_length: model.served }),
  };
  return without(row, facts.without);
}

function v1Row(model: ModelRuntime): JsonObject {
  const { facts } = model.spec;
  const windows = model.served === undefined ? [] : (facts.instances ?? [model.served]);
  const row = {
    type: facts.type === 'embeddings' ? 'embedding' : 'llm',
    publisher: 'simulator',
    key: model.name,
    display_name: model.name,
    architecture: facts.architecture,
    quantization: { name: facts.quantization, bits_per_weight: 4 },
    size_bytes: 4_661_224_676,
    params_string: facts.parameterSize,
    loaded_instances: windows.map((window, index) => ({
      id: index === 0 ? model.name : `${model.name}:${index + 1}`,
      config: {
        context_length: window,
        eval_batch_size: 512,
        flash_attention: false,
        num_experts: 0,
        offload_kv_cache_to_gpu: true,
      },
    })),
    max_context_length: trainedOf(model),
    format: 'gguf',
    capabilities: { vision: facts.type === 'vlm', trained_for_tool_use: true },
    description: null,
  };
  return without(row, facts.without);
}

export const lmstudioMetadata: Metadata = (server, { method, path, body }) => {
  const models = [...server.models.values()];
  const one = /^\/api\/v0\/models\/(.+)$/.exec(path)?.[1];
  if (method === 'GET' && one !== undefined) {
    const model = server.models.get(decodeURIComponent(one));
    return model === undefined ? { status: 404, body: { error: `Model "${one}" not found` } } : found(v0Row(model));
  }
  switch (`${method} ${path}`) {
    case 'GET /api/v0/models':
      return openAiList(models.map(v0Row));
    case 'GET /api/v1/models':
      return found({ models: models.map(v1Row) });
    case 'GET /v1/models':
      return openAiList(models.map((model) => ({ id: model.name, object: 'model', owned_by: 'organization_owner' })));
    case 'POST /api/v1/models/load': {
      const name = textOf(body['model']);
      const model = server.models.get(name);
      if (model === undefined) return { status: 404, body: { error: `Model "${name}" not found` } };
      load(model, numberOf(body['context_length']));
      return found({ type: 'llm', instance_id: name, load_time_seconds: model.spec.facts.loadMs / 1000, status: 'loaded' });
    }
    case 'POST /api/v1/models/unload': {
      const model = server.models.get(textOf(body['instance_id']));
      if (model !== undefined) model.served = undefined;
      return found({ instance_id: textOf(body['instance_id']) });
    }
    default:
      return undefined;
  }
};
