import { NightshiftError } from '@nightshift/contracts';
import { z } from 'zod';
import type { JsonClient } from '../poll/json-client';
import type { PolledFigures } from '../windows/window.store';
import { eachOf, frame, modelId, optionalTokens, rows } from './server-reader';
import type { Poll, ServerReader } from './server-reader';

const list = z.object({ models: z.array(z.unknown()) });
const tag = z.object({
  name: modelId,
  digest: z.string().optional(),
  modified_at: z.string().optional(),
  remote_host: z.string().nullish(),
});
const running = z.object({ name: modelId, context_length: optionalTokens });
const shown = z.object({
  parameters: z.string().nullish(),
  model_info: z.record(z.string(), z.unknown()).nullish(),
  remote_host: z.string().nullish(),
});
const version = z.object({ version: z.string().max(100) });

interface Details {
  /** Of the tag; the details are read again only when it changes. */
  mark: string;
  trainedMax?: number;
  modelfileNumCtx?: number;
  cloud: boolean;
}

const showsAtOnce = 4;
const loadTimeoutMs = 120_000;

type Tag = z.infer<typeof tag>;
const markOf = (each: Tag): string => `${each.digest ?? ''} ${each.modified_at ?? ''}`;

/** `num_ctx                        4096` in the parameters, one per line. */
function modelfileNumCtx(parameters: string | null | undefined): number | undefined {
  const found = /^num_ctx\s+(\d{1,9})\s*$/m.exec(parameters ?? '');
  const value = Number(found?.[1] ?? 0);
  return value > 0 ? value : undefined;
}

function trainedMax(info: Record<string, unknown> | null | undefined): number | undefined {
  const architecture = info?.['general.architecture'];
  const parsed = optionalTokens.safeParse(info?.[`${String(architecture)}.context_length`]);
  return parsed.success ? (parsed.data ?? undefined) : undefined;
}

function detailsOf(answer: z.infer<typeof shown>, mark: string, cloud: boolean): Details {
  const trained = trainedMax(answer.model_info);
  const asked = modelfileNumCtx(answer.parameters);
  return {
    mark,
    cloud: cloud || Boolean(answer.remote_host),
    ...(trained === undefined ? {} : { trainedMax: trained }),
    ...(asked === undefined ? {} : { modelfileNumCtx: asked }),
  };
}

/** `/api/tags` for what there is, `/api/show` once per version of a model, `/api/ps` for what is loaded and how. */
export class OllamaReader implements ServerReader {
  private readonly details = new Map<string, Details>();

  async poll(client: JsonClient): Promise<Poll> {
    const remarks: string[] = [];
    const tags = rows(tag, frame(list, await client.get('/api/tags'), '/api/tags').models, '/api/tags', remarks);
    const loaded = await this.loaded(client, remarks);
    const changed = tags.filter((each) => this.details.get(each.name)?.mark !== markOf(each));
    await eachOf(changed, showsAtOnce, (each) => this.show(client, each, remarks));
    const answered = await client.getOptional('/api/version');
    return {
      models: tags.map((each) => this.figures(each.name, loaded)),
      version: version.safeParse(answered).data?.version ?? '',
      remarks,
    };
  }

  /** An empty prompt loads a model and answers nothing. */
  async load(client: JsonClient, model: string, { numCtx, signal }: { numCtx: number; signal: AbortSignal }): Promise<void> {
    const options = numCtx > 0 ? { options: { num_ctx: numCtx } } : {};
    await client.post('/api/generate', { model, prompt: '', stream: false, ...options }, { signal, timeoutMs: loadTimeoutMs });
  }

  private async loaded(client: JsonClient, remarks: string[]): Promise<Map<string, number | undefined>> {
    const answer = await client.getOptional('/api/ps');
    if (answer === undefined) return new Map();
    const found = rows(running, frame(list, answer, '/api/ps').models, '/api/ps', remarks);
    return new Map(found.map((each) => [each.name, each.context_length ?? undefined]));
  }

  /** Details of one model are no reason to throw the others away: it is asked again at the next look. */
  private async show(client: JsonClient, each: Tag, remarks: string[]): Promise<void> {
    try {
      const details = frame(shown, await client.post('/api/show', { model: each.name }), '/api/show');
      this.details.set(each.name, detailsOf(details, markOf(each), Boolean(each.remote_host)));
    } catch (thrown) {
      remarks.push(`${each.name}: ${NightshiftError.from(thrown).text}`);
    }
  }

  private figures(model: string, loaded: ReadonlyMap<string, number | undefined>): PolledFigures {
    const details = this.details.get(model);
    const common = {
      model,
      cloud: details?.cloud ?? false,
      ...(details?.trainedMax === undefined ? {} : { trainedMax: details.trainedMax }),
      ...(details?.modelfileNumCtx === undefined ? {} : { modelfileNumCtx: details.modelfileNumCtx }),
    };
    // A cloud model runs with its full window and is never loaded here.
    if (details?.cloud) return { ...common, loaded: true, note: 'cloud model, /api/show', window: details.trainedMax };
    const window = loaded.get(model);
    return { ...common, loaded: loaded.has(model), note: '/api/ps', ...(window === undefined ? {} : { window }) };
  }
}
