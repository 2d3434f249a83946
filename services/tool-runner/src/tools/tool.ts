import type { tool, transcript, WorkspaceToolArguments, WorkspaceToolName } from '@nightshift/contracts';
import type { Commands } from '../sandbox/commands';
import type { Limits } from '../sandbox/limits';
import type { Workspace } from '../workspaces/workspace';
import type { SeenContents } from './seen-contents';

/** What this task knows about a file. */
export type Seen = Pick<tool.SeenFile, 'sha256' | 'readGeneration' | 'readInWhole'>;

/** Everything a tool call may use. */
export interface ToolContext {
  readonly team: string;
  readonly taskId: string;
  readonly callId: string;
  readonly workspace: Workspace;
  readonly limits: Limits;
  readonly policy: tool.Policy | undefined;
  /** A read returns at most this many characters. */
  readonly readChars: number;
  readonly generation: number;
  /** As the orchestrator knows it: decides about "unchanged since you read it". */
  readonly recorded: ReadonlyMap<string, Seen>;
  /** Hashes this task saw last, calls of this very batch included: decides about edits. */
  readonly lastSeen: ReadonlyMap<string, string>;
  readonly contents: SeenContents;
  readonly commands: Commands;
  readonly ripgrep: string;
  readonly signal: AbortSignal;
  /** Live output; may be dropped. */
  onText(text: string): void;
}

/** Result of a call before it is stored and sent. */
export interface Answer {
  parts: AnswerPart[];
  isError: boolean;
  outcome: transcript.ToolOutcome;
  seen: (Seen & { path: string })[];
  changes: { path: string; beforeSha256: string; afterSha256: string; kind: 'created' | 'changed' | 'deleted' }[];
  /** Path and hash of the file the text was read from. */
  source?: { path: string; sha256: string };
  processesEnded: number;
}
export type AnswerPart = { text: string } | { image: { mediaType: string; data: Uint8Array; width: number; height: number } };

/**
 * The effect of a keyed call, written down before it happens: the hashes tell a redelivery whether it took place, and
 * `done` is the answer then (it cannot be computed again: the old text is gone).
 */
export interface Intent {
  path: string;
  /** Empty: no such file. */
  beforeSha256: string;
  afterSha256: string;
  done: Answer;
}

export interface Plan {
  intent?: Intent;
  perform(): Promise<Answer>;
}

/** Checks what can be checked without an effect, and says what would be done. Throws NightshiftError for the model to read. */
export type PlanTool<Name extends WorkspaceToolName> = (
  args: WorkspaceToolArguments<Name>,
  context: ToolContext,
) => Promise<Plan>;
