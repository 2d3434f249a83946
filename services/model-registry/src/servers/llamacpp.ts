import { z } from 'zod';
import type { JsonClient } from '../poll/json-client';
import type { PolledFigures } from '../windows/window.store';
import { eachOf, frame, modelId, optionalTokens, rows, tokens } from './server-reader';
import type { Poll, ServerReader } from './server-reader';

// n_ctx is 0 in router mode and before a model is loaded.
const contextSize = z.int().min(0).max(100_000_000).nullish();
const props = z.object({
  default_generation_settings: z.object({ n_ctx: contextSize }).nullish(),
  build_info: z.string().max(200).nullish(),
});
const list = z.object({ data: z.array(z.unknown()) });
const row = z.object({
  id: modelId,
  meta: z.object({ n_ctx_train: optionalTokens, n_ctx: optionalTokens }).nullish(),
  status: z.object({ value: z.string(), args: z.array(z.string()).nullish() }).nullish(),
});
const slots = z.array(z.object({ n_ctx: tokens }));
type Row = z.infer<typeof row>;

const askAtOnce = 4;
const awake = ['loaded', 'sleeping'];

/** `/props` says what one slot serves: it is not divided again by their number. */
function servedOf(answer: unknown): number | undefined {
  return props.safeParse(answer).data?.default_generation_settings?.n_ctx || undefined;
}

function figures(each: Row, window: number | undefined, loaded: boolean): PolledFigures {
  const trained = each.meta?.n_ctx_train;
  return {
    model: each.id,
    loaded,
    cloud: false,
    note: '/props',
    ...(window === undefined ? {} : { window }),
    ...(trained ? { trainedMax: trained } : {}),
  };
}

export class LlamaCppReader implements ServerReader {
  async poll(client: JsonClient): Promise<Poll> {
    const remarks: string[] = [];
    const routed = list.safeParse(await client.getOptional('/models'));
    const routerRows = routed.success ? rows(row, routed.data.data, '/models', remarks).filter((each) => each.status) : [];
    const own = await client.getOptional('/props');
    const version = props.safeParse(own).data?.build_info ?? '';
    if (routerRows.length > 0) return { models: await this.router(client, routerRows), version, remarks };

    const served = servedOf(own) ?? (await this.slotSize(client));
    const found = rows(row, frame(list, await client.get('/v1/models'), '/v1/models').data, '/v1/models', remarks);
    return { models: found.map((each) => figures(each, served ?? each.meta?.n_ctx ?? undefined, true)), version, remarks };
  }

  /** Asking a router for a model loads it, unless told otherwise; one that is not loaded is not asked at all. */
  private async router(client: JsonClient, found: readonly Row[]): Promise<PolledFigures[]> {
    const models: PolledFigures[] = [];
    await eachOf(found, askAtOnce, async (each) => {
      if (!awake.includes(each.status?.value ?? '')) {
        models.push(figures(each, undefined, false));
        return;
      }
      const answer = await client.getOptional(`/props?model=${encodeURIComponent(each.id)}&autoload=false`);
      models.push(figures(each, servedOf(answer), true));
    });
    return models;
  }

  private async slotSize(client: JsonClient): Promise<number | undefined> {
    const found = slots.safeParse(await client.getOptional('/slots'));
    return found.success && found.data.length > 0 ? Math.min(...found.data.map((slot) => slot.n_ctx)) : undefined;
  }

  async load(client: JsonClient, model: string, { signal }: { signal: AbortSignal }): Promise<void> {
    await client.post('/models/load', { model }, { signal, timeoutMs: 120_000 });
  }
}
