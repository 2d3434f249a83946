import snapshot from './catalogue.json';

/** One (vendor, model) row, tokens; prices in dollars per million tokens. */
export interface CatalogueRow {
  context: number;
  /** Set where less than the context may be input. */
  inputMax?: number;
  output: number;
  price: { input: number; output: number; cacheRead: number; cacheWrite: number };
  reasoning: boolean;
  images: boolean;
}

interface SnapshotRow {
  context: number;
  output: number;
  price: number[];
  reasoning?: boolean;
  images?: boolean;
}

const models = snapshot.models as unknown as Readonly<Record<string, Readonly<Record<string, SnapshotRow>> | undefined>>;

/** Package, version and date of the snapshot, for display. */
export const catalogueSource: { package: string; version: string; snapshotDate: string } = snapshot.source;
/** The snapshot's date in milliseconds. */
export const catalogueAtMs = Date.parse(`${snapshot.source.snapshotDate}T00:00:00Z`);

/**
 * Our vendor name → the snapshot's. Two providers of one model are two rows: a window is never taken from another one.
 * Local servers have none: what a file name says is not what a server serves.
 */
const vendorRows: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-responses': 'openai',
  codex: 'openai-codex',
  gemini: 'google',
  xai: 'xai',
  minimax: 'minimax',
  'minimax-anthropic': 'minimax',
  mistral: 'mistral',
  deepseek: 'deepseek',
  groq: 'groq',
  together: 'together',
  openrouter: 'openrouter',
  'azure-openai': 'azure-openai-responses',
  'bedrock-openai': 'amazon-bedrock',
  'bedrock-anthropic': 'amazon-bedrock',
  cerebras: 'cerebras',
};

/** Vendors that have rows. */
export const catalogueVendors = Object.keys(vendorRows);

/** The snapshot has no input maximum; these are known from the vendors' own error texts ("configured limit of 272000"). */
const inputMaxima: readonly { rows: string; model: RegExp; context: number; inputMax: number }[] = [
  { rows: 'openai', model: /^gpt-5/, context: 400_000, inputMax: 272_000 },
  { rows: 'azure-openai-responses', model: /^gpt-5/, context: 400_000, inputMax: 272_000 },
];

/** The row of this vendor's model, if the snapshot has one. */
export function catalogueRow(vendor: string, model: string): CatalogueRow | undefined {
  const rows = vendorRows[vendor];
  const row = rows === undefined ? undefined : models[rows]?.[model];
  if (!row) return undefined;
  const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = row.price;
  const limit = inputMaxima.find((each) => each.rows === rows && each.model.test(model) && each.context === row.context);
  return {
    context: row.context,
    ...(limit ? { inputMax: limit.inputMax } : {}),
    // Two rows of the snapshot state more output than the whole context.
    output: Math.min(row.output, row.context),
    price: { input, output, cacheRead, cacheWrite },
    reasoning: row.reasoning ?? false,
    images: row.images ?? false,
  };
}

/** Models of a vendor in the snapshot. */
export function catalogueModels(vendor: string): string[] {
  return Object.keys(models[vendorRows[vendor] ?? ''] ?? {});
}
