/** What a step reads and seldom changes: one side row per task, cached by its version. */
export interface TaskDetails {
  readonly version: number;
  readonly goal: string;
  readonly createdBy: string;
  readonly criteria: readonly GoalCriterion[];
  readonly plan: readonly PlanStep[];
  readonly chain: readonly ChainCandidate[];
  readonly options: StoredOptions;
  readonly workspace: StoredWorkspace | undefined;
  /** Project rules found in the workspace; part of the system prompt. */
  readonly rules: string;
  readonly question: string;
  readonly result: string;
  /** Focus text of a manual pass that is due. */
  readonly focus: string;
  readonly receipt: StoredReceipt | undefined;
}

export interface GoalCriterion {
  readonly id: string;
  readonly text: string;
  readonly done: boolean;
  readonly evidence: string;
}

export interface PlanStep {
  readonly text: string;
  readonly state: 'todo' | 'doing' | 'done';
}

export interface ChainCandidate {
  readonly provider: string;
  readonly model: string;
  readonly endpoint: string;
}

export interface StoredPolicy {
  readonly fraction?: number;
  readonly cap?: number;
  readonly floor?: number;
  readonly defaultReserve?: number;
  readonly tokenCompression?: boolean;
  readonly minRetained?: number;
  readonly enabled?: boolean;
}

export interface StoredOptions {
  readonly maxOutputTokens: number;
  readonly system: string;
  readonly toolNames: readonly string[];
  readonly compaction: StoredPolicy;
  readonly tools: {
    readonly allowedHosts: readonly string[];
    readonly memoryMb: number;
    readonly maxProcesses: number;
    readonly maxOutputBytes: number;
    readonly environmentAllow: readonly string[];
    readonly allowUnsandboxed: boolean;
  };
}

export interface StoredWorkspace {
  readonly id: string;
  readonly directory: string;
  readonly gitUrl: string;
  readonly gitRef: string;
  readonly mode: string;
  readonly path: string;
  readonly baseCommit: string;
  readonly runner: string;
  readonly sandboxed: boolean;
}

export interface StoredReceipt {
  readonly askedAt: number;
  readonly lastProviderByte: number;
  readonly upstreamClosed: number;
  readonly callsStartedAfter: number;
  readonly tokensBilled: number;
  readonly processesEnded: number;
  readonly complete: boolean;
  readonly completedAt: number;
  readonly confirmations: readonly string[];
  /** What each party reported so far, by party/instance: its figures are cumulative. */
  readonly parties: Readonly<Record<string, { readonly billed: number; readonly processes: number }>>;
}
