import type { RefillState } from '@nightshift/compaction';
import type { compaction, task } from '@nightshift/contracts';

/**
 * The hot row of a task as the deciding code sees it. Everything a step needs to decide without reading entries;
 * `memory` is one JSON column, so the whole row is rewritten by one statement per outcome and must stay below 2 KB.
 */
export interface TaskRow {
  readonly teamId: string;
  readonly id: string;
  readonly parentId: string | undefined;
  readonly rootId: string;
  readonly state: task.TaskState;
  readonly pending: task.Pending;
  /** Why the task is in this state, one line for a person; empty while it simply runs. */
  readonly reason: string;
  /** Recorded outcomes. Only a recorded outcome raises it, and only the holder of the current value may record one. */
  readonly epoch: number;
  /** When the sweeper looks at the task again, ms; undefined = never (terminal, or waiting for a person). */
  readonly dueAt: number | undefined;
  readonly publishCount: number;
  readonly stepAttempts: number;
  readonly generation: number;
  readonly lastSeq: number;
  readonly lastEventSeq: number;
  readonly iterations: number;
  readonly toolCalls: number;
  readonly thresholdHits: number;
  readonly chainPosition: number;
  readonly passId: string | undefined;
  readonly detailsVersion: number;
  /** Set by a user without touching the epoch; a step reads it at the next safe point. */
  readonly pauseRequested: boolean;
  readonly compactRequested: boolean;
  readonly memory: Memory;
  /** Messages wait to be delivered, as of the statement that read the row. */
  readonly inbox: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | undefined;
}

/** What the loop remembers between steps. Written only under the lease or the row lock. */
export interface Memory {
  /** Running estimate of the rendered entries (checkpoint included) of `generation`, up to and including `through`. */
  readonly sums: { readonly generation: number; readonly through: number; readonly estimate: number };
  /** The last usage report with the request it belongs to. */
  readonly usage?: UsageMark;
  readonly figures: Figures;
  /** Plain estimate of the first message, in tokens. */
  readonly firstEstimate: number;
  /** Set while the measured size is above the threshold: a threshold hit is counted once per crossing. */
  readonly over: boolean;
  readonly breaker: Breaker;
  readonly refill: RefillState;
  /** Forced passes (provider overflow and the like) in a row without a model answer between them. */
  readonly forcedInARow: number;
  readonly failedSummaries: number;
  readonly failedSummaryAt: number;
  /** Measured tokens when the last pass was undone: no automatic pass runs until 25 % more. 0 = no undo, -1 = measured at the next step. */
  readonly undoneAt: number;
  /** A pass that the next step has to queue, asked for by an outcome (overflow, switch, silent truncation). */
  readonly passDue?: compaction.PassReason;
  readonly pass?: { readonly reason: compaction.PassReason; readonly measured: number; readonly back?: PassReturn };
  /** The open batch: entry that holds its calls, and the wave of calls that runs now. */
  readonly batch?: { readonly seq: number; readonly wave: number };
  readonly guards: Guards;
  /** Answers cut by length in a row: 0, then the doubled budget, then continuations. */
  readonly cuts: number;
  /** Doubled output budget of the next call; 0 = as configured. */
  readonly outputBudget: number;
  /** Turns in a row that neither called a tool nor finished. */
  readonly nudges: number;
  /** Not-now answers of the providers in a row. */
  readonly retries: number;
  readonly maxIterations: number;
  readonly workspace: 'none' | 'due' | 'open' | 'lost';
  readonly spend: Spend;
}

/** Where a task goes back to after a pass that was asked for while it was not running. */
export interface PassReturn {
  readonly state: task.TaskState;
  readonly pending: task.Pending;
  readonly reason: string;
}

export interface UsageMark {
  readonly input: number;
  readonly generation: number;
  readonly through: number;
  /** `sums.estimate` as of the request: what was appended since is the difference. */
  readonly viewEstimate: number;
  readonly provider: string;
  readonly model: string;
  readonly prefix: string;
  readonly prefixEstimate: number;
}

/** What was last shown to people and measured against. Tokens. */
export interface Figures {
  readonly measured: number;
  /** System prompt, schemas, first message, goal and plan: what no pass can change. */
  readonly fixed: number;
  readonly threshold: number;
  readonly effective: number;
  readonly window: number;
  readonly source: string;
}

export interface Breaker {
  readonly failures: number;
  readonly open: boolean;
  readonly measuredAtFailure: number;
  readonly provider: string;
  readonly model: string;
}

export interface Guards {
  /** Fingerprints of the latest calls, newest last. */
  readonly recent: readonly string[];
  readonly repeats: number;
  readonly stale: number;
  readonly failing: number;
  readonly swings: number;
  /** Guards that have spoken already. */
  readonly told: readonly string[];
}

export interface Spend {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly calls: number;
}

/** The memory of a task that has not run yet. */
export function newMemory(maxIterations: number, hasWorkspace: boolean, firstEstimate = 0): Memory {
  return {
    sums: { generation: 0, through: 0, estimate: 0 },
    figures: { measured: 0, fixed: 0, threshold: 0, effective: 0, window: 0, source: '' },
    firstEstimate,
    over: false,
    breaker: { failures: 0, open: false, measuredAtFailure: 0, provider: '', model: '' },
    refill: { passesAtCalls: [], met: 0 },
    forcedInARow: 0,
    failedSummaries: 0,
    failedSummaryAt: 0,
    undoneAt: 0,
    guards: { recent: [], repeats: 0, stale: 0, failing: 0, swings: 0, told: [] },
    cuts: 0,
    outputBudget: 0,
    nudges: 0,
    retries: 0,
    maxIterations,
    workspace: hasWorkspace ? 'due' : 'none',
    spend: { input: 0, output: 0, cacheRead: 0, calls: 0 },
  };
}
