/** The answers of the HTTP API, as far as the command line reads them. /openapi.json has them whole. */
export interface TaskJson {
  id: string;
  parentId: string;
  state: 'running' | 'compacting' | 'waiting' | 'paused' | 'cancelling' | 'completed' | 'failed' | 'cancelled';
  pending: string;
  reason: string;
  goal: string;
  criteria: Array<{ id: string; text: string; done: boolean; evidence: string }>;
  plan: Array<{ text: string; state: string }>;
  chain: Array<{ provider: string; model: string }>;
  chainPosition: number;
  workspace?: { id: string; directory: string; path: string; mode: string; sandboxed: boolean };
  generation: number;
  lastSeq: number;
  iterations: number;
  toolCalls: number;
  thresholdHits: number;
  measuredTokens: number;
  threshold: number;
  effectiveThreshold: number;
  window: number;
  windowSource: string;
  createdAtMs: number;
  updatedAtMs: number;
  endedAtMs: number;
  spend?: { inputTokens: number; outputTokens: number; cacheReadTokens: number; modelCalls: number };
  result: string;
  model: string;
  provider: string;
  question: string;
  receipt?: {
    complete: boolean;
    askedAtMs: number;
    completedAtMs: number;
    callsStartedAfter: number;
    tokensBilled: number;
    processesEnded: number;
    lastProviderByteMs: number;
    upstreamClosedMs: number;
  };
}

export interface TaskEventJson {
  seq: number;
  atMs: number;
  taskId: string;
  kind: string;
  data: Record<string, unknown>;
}

export interface TierJson {
  tier: string;
  outcome: string;
  before: number;
  after: number;
  ms: number;
  reason: string;
}

export interface GenerationJson {
  generation: number;
  passId: string;
  reason: string;
  outcome: string;
  tiers: TierJson[];
  loss?: { rows: Array<{ kind: string; fate: string; count: number; tokens: number; bytes: number }> };
  before: number;
  after: number;
  window: number;
  threshold: number;
  effectiveThreshold: number;
  provider: string;
  model: string;
  windowSource: string;
  atMs: number;
  active: boolean;
  undoes: number;
  reinjected: Array<{ kind: string; count: number }>;
  ms: number;
  detail: string;
}

export interface ToolCallJson {
  callId: string;
  tool: string;
  effect: string;
  state: string;
  intendedAtMs: number;
  startedAtMs: number;
  endedAtMs: number;
  runner: string;
  entrySeq: number;
  argumentsJson: string;
  stored?: { id: string; sha256: string; bytes: number };
}

export interface PartJson {
  text?: string;
  image?: { mediaType: string };
}

export interface ResultJson {
  callId: string;
  tool: string;
  parts: PartJson[];
  isError: boolean;
  outcome: string;
  stored?: { id: string; sha256: string; bytes: number };
}

export interface BlockJson {
  text?: string;
  reasoning?: { text: string };
  toolCall?: { id: string; name: string; argumentsJson: string };
}

export interface EntryJson {
  seq: number;
  id: string;
  atMs: number;
  user?: { parts: PartJson[]; origin: string };
  assistant?: { blocks: BlockJson[]; provider: string; model: string; stopReason: string };
  toolResult?: ResultJson;
  note?: { kind: string; text: string };
}

export interface MessageJson {
  user?: EntryJson['user'];
  assistant?: EntryJson['assistant'];
  toolResults?: { results: ResultJson[] };
}

export interface ViewJson {
  generation: number;
  tokens: number;
  view?: {
    system: string;
    tools: Array<{ name: string }>;
    messages: MessageJson[];
  };
}

export interface WindowJson {
  window?: {
    provider: string;
    endpoint: string;
    model: string;
    window: number;
    inputMax: number;
    outputMax: number;
    source: string;
    atMs: number;
    unknown: boolean;
    trainedMax: number;
    stale: boolean;
    notLoaded: boolean;
    warning: string;
  };
  sources: Array<{ source: string; window: number; inputMax: number; outputMax: number; fate: string; reason: string }>;
  numCtx: number;
}

export interface ModelsJson {
  windows: WindowJson[];
  endpoints: Array<{
    provider: string;
    endpoint: string;
    state: string;
    reason: string;
    lastOkMs: number;
    serverVersion: string;
  }>;
}

export interface ProvidersJson {
  providers: Array<{
    provider: string;
    endpoint: string;
    format: string;
    keyConfigured: boolean;
    inFlight: number;
    limit: number;
    breakers: Array<{ model: string; state: string; failures: number; openUntilMs: number; reason: string; trips: number }>;
    models: string[];
  }>;
}

export interface DeadLetterJson {
  id: string;
  route: string;
  reason: string;
  atMs: number;
  deliveries: number;
  state: string;
  taskId: string;
  bodyJson: string;
}

export interface KeyJson {
  id: string;
  name: string;
  prefix: string;
  role: string;
  createdAtMs: number;
  lastUsedAtMs: number;
  revokedAtMs: number;
}
