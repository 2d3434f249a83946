/** One model at one endpoint. */
export interface ModelName {
  provider: string;
  endpoint: string;
  model: string;
}

/** What a server (`served`) or a vendor's list (`list`) said last; `asked`: a model somebody uses, without figures. */
export interface WindowRow extends ModelName {
  source: 'served' | 'list' | 'asked';
  window: number | null;
  inputMax: number | null;
  outputMax: number | null;
  trainedMax: number | null;
  /** `num_ctx` of an Ollama Modelfile. */
  modelfileNumCtx: number | null;
  loaded: boolean;
  /** Runs elsewhere although a local server lists it. */
  cloud: boolean;
  note: string;
  /** When a figure was last read, and when the model was last listed. */
  observedAt: Date;
  seenAt: Date;
}

export interface OverrideRow extends ModelName {
  teamId: string;
  window: number | null;
  inputMax: number | null;
  outputMax: number | null;
  numCtx: number | null;
  setAt: Date;
}

export interface LearnedRow extends ModelName {
  kind: 'window' | 'inputMax' | 'outputMax';
  tokens: number;
  exactness: 'exact' | 'cut';
  sightings: number;
  against: number | null;
  acceptedTokens: number | null;
  text: string;
  at: Date;
}

/** Everything stored about one model. */
export interface KnownModel {
  name: ModelName;
  served?: WindowRow;
  list?: WindowRow;
  learned: readonly LearnedRow[];
  /** The override of the team that asks. */
  override?: OverrideRow;
}

export const nameKey = (name: ModelName): string => [name.provider, name.endpoint, name.model].join('\0');
