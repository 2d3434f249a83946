import { z } from 'zod';
import type { JsonClient } from '../poll/json-client';
import type { PolledFigures } from '../windows/window.store';
import { frame, modelId, optionalTokens, rows } from './server-reader';
import type { Poll, ServerReader } from './server-reader';

const list = z.object({ data: z.array(z.unknown()) });
const row = z.object({ id: modelId, parent: z.string().nullish(), max_model_len: optionalTokens });
const version = z.object({ version: z.string().max(100) });

export type ServedRow = z.infer<typeof row>;

/** A LoRA row states no window of its own: its parent's holds. */
export function servedFigures(found: readonly ServedRow[]): PolledFigures[] {
  return found.map((each) => {
    const parent = found.find((other) => other.id === each.parent);
    const window = each.max_model_len ?? parent?.max_model_len ?? undefined;
    const note = each.max_model_len == null && parent ? `/v1/models, of ${parent.id}` : '/v1/models';
    return { model: each.id, loaded: true, cloud: false, note, ...(window === undefined ? {} : { window }) };
  });
}

export async function readModels(client: JsonClient, remarks: string[]): Promise<ServedRow[]> {
  return rows(row, frame(list, await client.get('/v1/models'), '/v1/models').data, '/v1/models', remarks);
}

/** `max_model_len` counts input and output together. */
export class VllmReader implements ServerReader {
  async poll(client: JsonClient): Promise<Poll> {
    const remarks: string[] = [];
    const models = servedFigures(await readModels(client, remarks));
    const answered = await client.getOptional('/version');
    return { models, version: version.safeParse(answered).data?.version ?? '', remarks };
  }
}
