import type { compaction, transcript } from '@nightshift/contracts';
import type { FitLimits } from '../measure/fit';
import type { CompactionPolicy } from '../policy/policy';
import type { Fault } from './store-faults';
import type { SummarizerName } from './summarizers';

/** Everything about a task that does not change from step to step. */
export interface TaskGiven {
  readonly system: string;
  readonly tools: readonly transcript.ToolSchema[];
  readonly goalAndPlan: readonly compaction.Reinjected[];
}

/** One pass, as a case asks for it. */
export interface PassAsked {
  readonly window: number;
  readonly inputMax: number;
  readonly outputMax: number;
  readonly maxOutput: number;
  readonly policy: Partial<CompactionPolicy>;
  readonly reason: 'threshold' | 'overflow' | 'model_switch' | 'manual';
  /** 0 = measure it. */
  readonly measured: number;
  readonly files: readonly compaction.EditedFile[];
  readonly handles: readonly compaction.Reinjected[];
  readonly summarizer: SummarizerName | 'none' | 'slow';
  /** Window of the summarizer; 0 = that of the task's model. */
  readonly summarizerWindow: number;
  readonly onDevice: 'none' | 'halving' | 'failing';
  readonly failedSummaries: { readonly inARow: number; readonly atTokens: number };
  readonly store: Fault;
  readonly limits: FitLimits;
  readonly imagesOnly: boolean;
  readonly focus: string;
}

export interface SummaryRequest {
  readonly kind: string;
  readonly view: transcript.View;
  readonly tokens: number;
  readonly maxOutput: number;
}

/** What an engine says about a pass. Only `committed` is required of every engine. */
export interface PassSaid {
  readonly committed: boolean;
  readonly outcome?: string;
  readonly reason?: string;
  readonly before?: number;
  readonly after?: number;
  readonly threshold?: number;
  readonly effective?: number;
  readonly landing?: number;
  readonly tiers?: readonly { readonly tier: string; readonly outcome: string; readonly reason: string }[];
  readonly summary?: string;
  readonly generation?: number;
  readonly summaryRequests?: readonly SummaryRequest[];
  readonly summaryFailed?: boolean;
  readonly prefixBreak?: boolean;
}

/** One task inside an engine. Entries are appended by the runner and never changed. */
export interface Session {
  pass(entries: readonly transcript.Entry[], asked: PassAsked): Promise<PassSaid>;
  view(entries: readonly transcript.Entry[]): transcript.View;
  /** Bytes of one part or block that the view does not show; undefined = lost. */
  restore(entry: transcript.Entry, part: number): Promise<Uint8Array | undefined>;
  /** Takes back the last committed pass. */
  undo?(): void;
}

/** Stateless questions: the input of a step as the case gives it, its answer as the case compares it. */
export type Question =
  | 'threshold'
  | 'output'
  | 'measure'
  | 'estimate'
  | 'breaker'
  | 'refill'
  | 'spill'
  | 'read_limit'
  | 'cut'
  | 'usage';

/** What can be plugged into the kit. A question that an engine lacks is skipped, not failed. */
export interface Engine {
  readonly name: string;
  open(task: TaskGiven): Session;
  readonly questions: Readonly<Partial<Record<Question, (input: Readonly<Record<string, unknown>>) => unknown>>>;
}
