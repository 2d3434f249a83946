import { z } from 'zod';
import type { JsonClient } from '../poll/json-client';
import type { PolledFigures } from '../windows/window.store';
import { frame, modelId, optionalTokens, rows, tokens } from './server-reader';
import type { Poll, ServerReader } from './server-reader';

const v1List = z.object({ models: z.array(z.unknown()) });
const v1Row = z.object({
  type: z.string().optional(),
  key: modelId,
  loaded_instances: z.array(z.object({ id: modelId, config: z.object({ context_length: tokens }) })).default([]),
  max_context_length: optionalTokens,
});
const v0List = z.object({ data: z.array(z.unknown()) });
const v0Row = z.object({
  id: modelId,
  type: z.string().optional(),
  state: z.string().optional(),
  max_context_length: optionalTokens,
  loaded_context_length: optionalTokens,
});

const embeddings = ['embedding', 'embeddings'];
const loadTimeoutMs = 120_000;

/** `/api/v1/models` (0.4 and later), else `/api/v0/models`. The maximum is what was trained; only a loaded instance serves. */
export class LmStudioReader implements ServerReader {
  async poll(client: JsonClient): Promise<Poll> {
    const remarks: string[] = [];
    const answer = await client.getOptional('/api/v1/models');
    // A build that knows no v1 may answer it with 200 and an error text.
    const isV1 = v1List.safeParse(answer).success;
    const models = isV1
      ? rows(v1Row, frame(v1List, answer, '/api/v1/models').models, '/api/v1/models', remarks).flatMap(v1Figures)
      : rows(v0Row, frame(v0List, await client.get('/api/v0/models'), '/api/v0/models').data, '/api/v0/models', remarks).flatMap(
          v0Figures,
        );
    return { models, version: isV1 ? 'api v1' : 'api v0', remarks };
  }

  async load(client: JsonClient, model: string, { signal }: { signal: AbortSignal }): Promise<void> {
    await client.post('/api/v1/models/load', { model }, { signal, timeoutMs: loadTimeoutMs });
  }
}

function v1Figures(row: z.infer<typeof v1Row>): PolledFigures[] {
  if (embeddings.includes(row.type ?? '')) return [];
  const trained = row.max_context_length ? { trainedMax: row.max_context_length } : {};
  const common = { cloud: false, note: '/api/v1/models', ...trained };
  const served = row.loaded_instances.map((instance) => instance.config.context_length);
  // A request that names the key may reach any instance: the smallest holds for it.
  const byKey = {
    model: row.key,
    ...common,
    loaded: served.length > 0,
    ...(served.length > 0 ? { window: Math.min(...served) } : {}),
  };
  const instances = row.loaded_instances
    .filter((instance) => instance.id !== row.key)
    .map((instance) => ({ model: instance.id, ...common, loaded: true, window: instance.config.context_length }));
  return [byKey, ...instances];
}

function v0Figures(row: z.infer<typeof v0Row>): PolledFigures[] {
  if (embeddings.includes(row.type ?? '')) return [];
  const loaded = row.state === 'loaded';
  return [
    {
      model: row.id,
      loaded,
      cloud: false,
      note: '/api/v0/models',
      ...(row.max_context_length ? { trainedMax: row.max_context_length } : {}),
      ...(loaded && row.loaded_context_length ? { window: row.loaded_context_length } : {}),
    },
  ];
}
