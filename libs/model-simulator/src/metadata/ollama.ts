import { createHash } from 'node:crypto';
import { textOf, type JsonObject } from '../json';
import { load, trainedOf, type ModelRuntime, type ServerRuntime } from '../server/runtime';
import { found, openAiList, without, type Metadata, type MetadataReply } from './endpoint';

const KEEP_ALIVE_MS = 300_000;
const BYTES = 4_661_224_676;

function details(model: ModelRuntime): JsonObject {
  const { architecture, parameterSize, quantization } = model.spec.facts;
  return {
    parent_model: '',
    format: 'gguf',
    family: architecture,
    families: [architecture],
    parameter_size: parameterSize,
    quantization_level: quantization,
  };
}

function digest(model: ModelRuntime): string {
  return createHash('sha256').update(model.name).digest('hex');
}

function remote(model: ModelRuntime): JsonObject {
  const { remoteHost } = model.spec.facts;
  return remoteHost === undefined ? {} : { remote_model: model.name.replace(/-cloud$/, ''), remote_host: remoteHost };
}

function tagRow(model: ModelRuntime): JsonObject {
  const row = {
    name: model.name,
    model: model.name,
    ...remote(model),
    modified_at: '2026-06-01T10:00:00.000000000Z',
    size: model.spec.facts.remoteHost === undefined ? BYTES : 384,
    digest: digest(model),
    details: details(model),
    capabilities: capabilities(model),
  };
  return without(row, model.spec.facts.without);
}

function capabilities(model: ModelRuntime): string[] {
  return model.spec.facts.type === 'embeddings' ? ['embedding'] : ['completion', 'tools'];
}

/** `model_info` holds what the model was trained for, `parameters` what its Modelfile asks: neither is what is served. */
function show(model: ModelRuntime): JsonObject {
  const { architecture, modelfileNumCtx, without: missing } = model.spec.facts;
  const padded = (name: string, value: string): string => `${name.padEnd(30)} ${value}`;
  const lines = [
    ...(modelfileNumCtx === undefined ? [] : [padded('num_ctx', String(modelfileNumCtx))]),
    padded('stop', '"<|eot_id|>"'),
  ];
  const row = {
    license: 'simulated',
    modelfile: `# Modelfile of the model simulator\nFROM ${model.name}\n`,
    parameters: lines.join('\n'),
    template: '{{ .Prompt }}',
    details: details(model),
    model_info: {
      'general.architecture': architecture,
      'general.parameter_count': 8_030_261_248,
      'general.quantization_version': 2,
      [`${architecture}.block_count`]: 32,
      [`${architecture}.context_length`]: trainedOf(model),
      [`${architecture}.embedding_length`]: 4096,
    },
    capabilities: capabilities(model),
    ...remote(model),
    modified_at: '2026-06-01T10:00:00.000000000Z',
  };
  return without(row, missing);
}

function psRow(model: ModelRuntime, nowMs: number): JsonObject {
  const row = {
    name: model.name,
    model: model.name,
    size: BYTES,
    digest: digest(model),
    details: details(model),
    expires_at: new Date(nowMs + KEEP_ALIVE_MS).toISOString(),
    size_vram: BYTES,
    context_length: model.served,
  };
  return without(row, model.spec.facts.without);
}

/** An empty prompt loads, keep_alive 0 unloads. */
function generate(server: ServerRuntime, body: JsonObject): MetadataReply {
  const name = textOf(body['model']);
  const model = server.models.get(name);
  if (model === undefined) return missing(name);
  const unload = body['keep_alive'] === 0 || body['keep_alive'] === '0';
  if (unload) model.served = undefined;
  else load(model);
  return found({
    model: name,
    created_at: '2026-06-01T10:00:00Z',
    response: '',
    done: true,
    done_reason: unload ? 'unload' : 'load',
  });
}

function missing(name: string): MetadataReply {
  return { status: 404, body: { error: `model '${name}' not found` } };
}

export const ollamaMetadata: Metadata = (server, { method, path, body, nowMs }) => {
  const models = [...server.models.values()];
  switch (`${method} ${path}`) {
    case 'GET /':
    case 'HEAD /':
      return { status: 200, body: 'Ollama is running' };
    case 'GET /api/version':
      return found({ version: server.version ?? '0.13.1' });
    case 'GET /api/tags':
      return found({ models: models.map(tagRow) });
    case 'GET /api/ps':
      return found({ models: models.filter((model) => model.served !== undefined).map((model) => psRow(model, nowMs)) });
    case 'POST /api/show': {
      const name = textOf(body['model'] ?? body['name']);
      const model = server.models.get(name);
      return model === undefined ? missing(name) : found(show(model));
    }
    case 'POST /api/generate':
      return generate(server, body);
    case 'GET /v1/models':
      return openAiList(
        models.map((model) => ({ id: model.name, object: 'model', created: 1_780_000_000, owned_by: 'library' })),
      );
    default:
      return undefined;
  }
};
