import type { ModelEntry } from '@nightshift/config';
import { catalogueAtMs, catalogueRow, catalogueSource } from '../catalogue/catalogue';
import { familyOf } from '../catalogue/families';
import { localVendors } from '../endpoints/configured';
import type { KnownModel, OverrideRow, WindowRow } from '../windows/window-rows';
import type { Candidate, LearnedLimit } from './candidates';
import { numCtx } from './num-ctx';
import { resolve } from './resolve';
import type { Resolution } from './resolve';

export interface ModelQuestion {
  known: KnownModel;
  vendor: string;
  /** Of nightshift.yaml. */
  operator?: ModelEntry;
  nowMs: number;
  /** After this long without a sighting a polled figure is stale. */
  staleAfterMs: { served: number; list: number };
}

export interface DescribedModel extends Resolution {
  /** What Ollama is to be sent; 0 = leave it out. */
  numCtx: number;
  notLoaded: boolean;
  warning: string;
}

const smallWindow = 16_384;
const howToRaise: Readonly<Record<string, string>> = {
  ollama: 'set num_ctx for the model in nightshift.yaml, or OLLAMA_CONTEXT_LENGTH for the server',
  lmstudio: 'load it with a larger context length',
  llamacpp: 'start the server with a larger -c',
  vllm: 'start the server with a larger --max-model-len',
  sglang: 'start the server with a larger --context-length',
};

/** Collects what every source says of a model, and decides. */
export function describeModel(question: ModelQuestion): DescribedModel {
  const { known, vendor, operator, nowMs, staleAfterMs } = question;
  const sent = sentNumCtx(question);
  const candidates: Candidate[] = [
    ...overrideCandidate(known.override),
    ...(operator
      ? [
          {
            source: 'operator' as const,
            ...positive(operator.window, operator.input_max, operator.output_max),
            atMs: nowMs,
            note: 'nightshift.yaml',
          },
        ]
      : []),
    ...(known.served ? [servedCandidate(known.served, vendor, sent, staleAfterMs.served)] : []),
    ...(known.list ? [listCandidate(known.list, staleAfterMs.list)] : []),
    ...staticCandidates(vendor, known.name.model),
  ];
  const resolution = resolve({ candidates, learned: known.learned.map(learnedLimit), nowMs });
  return {
    ...resolution,
    numCtx: sent ?? 0,
    notLoaded: known.served !== undefined && !known.served.loaded,
    warning: warningOf(resolution, vendor),
  };
}

function sentNumCtx({ known, vendor, operator }: ModelQuestion): number | undefined {
  if (vendor !== 'ollama' || known.served?.cloud) return undefined;
  return numCtx({
    override: known.override?.numCtx ?? operator?.num_ctx,
    modelfile: known.served?.modelfileNumCtx ?? undefined,
    served: known.served?.window ?? undefined,
    trainedMax: known.served?.trainedMax ?? undefined,
  });
}

/** A loaded Ollama model is served as it is; one that is not will be served with the num_ctx that we send. */
function servedCandidate(row: WindowRow, vendor: string, sent: number | undefined, staleAfterMs: number): Candidate {
  const figures = positive(row.window, row.inputMax, row.outputMax, row.trainedMax);
  const next = vendor === 'ollama' && !row.cloud && !(row.loaded && figures.window !== undefined) ? sent : figures.window;
  const state = row.loaded ? row.note : [row.note, 'not loaded'].filter(Boolean).join(', ');
  return { source: 'served', ...figures, window: next, atMs: row.seenAt.getTime(), staleAfterMs, note: state };
}

function listCandidate(row: WindowRow, staleAfterMs: number): Candidate {
  const figures = positive(row.window, row.inputMax, row.outputMax, row.trainedMax);
  // A list that states only what may be input (Anthropic, Gemini): taken as the window, which errs on the safe side.
  return {
    source: 'list',
    ...figures,
    window: figures.window ?? figures.inputMax,
    atMs: row.seenAt.getTime(),
    staleAfterMs,
    note: row.note,
  };
}

function staticCandidates(vendor: string, model: string): Candidate[] {
  const row = catalogueRow(vendor, model);
  const family = localVendors.includes(vendor) ? undefined : familyOf(model);
  const note = `${catalogueSource.package} ${catalogueSource.version}, ${catalogueSource.snapshotDate}`;
  return [
    ...(row
      ? [{ source: 'catalogue' as const, ...positive(row.context, row.inputMax, row.output), atMs: catalogueAtMs, note }]
      : []),
    ...(family
      ? [
          {
            source: 'family' as const,
            ...positive(family.window, undefined, family.output),
            atMs: catalogueAtMs,
            note: 'guessed from the name',
          },
        ]
      : []),
  ];
}

function overrideCandidate(row: OverrideRow | undefined): Candidate[] {
  if (!row) return [];
  return [
    {
      source: 'team',
      ...positive(row.window, row.inputMax, row.outputMax),
      atMs: row.setAt.getTime(),
      note: 'override of the team',
    },
  ];
}

function learnedLimit(row: KnownModel['learned'][number]): LearnedLimit {
  return {
    kind: row.kind,
    tokens: row.tokens,
    exactness: row.exactness,
    sightings: row.sightings,
    atMs: row.at.getTime(),
    ...(row.against === null ? {} : { against: row.against }),
    ...(row.acceptedTokens === null ? {} : { acceptedTokens: row.acceptedTokens }),
  };
}

type Figure = number | null | undefined;
interface Figures {
  window?: number;
  inputMax?: number;
  outputMax?: number;
  trainedMax?: number;
}

function positive(window: Figure, inputMax?: Figure, outputMax?: Figure, trainedMax?: Figure): Figures {
  return {
    ...(window ? { window } : {}),
    ...(inputMax ? { inputMax } : {}),
    ...(outputMax ? { outputMax } : {}),
    ...(trainedMax ? { trainedMax } : {}),
  };
}

function warningOf(resolution: Resolution, vendor: string): string {
  const { window, trainedMax, source } = resolution;
  if (source !== 'served' || trainedMax === undefined || window >= smallWindow || window >= trainedMax) return '';
  return `serves ${window} of the ${trainedMax} tokens the model can: ${howToRaise[vendor] ?? 'raise it on the server'}`;
}
