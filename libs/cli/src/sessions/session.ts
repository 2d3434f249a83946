import type { transcript } from '@nightshift/contracts';

export const sessionFormats = [
  'claude-code',
  'codex',
  'gemini-cli',
  'pi',
  'swe-agent',
  'openai-chat',
  'langgraph',
  'atif',
] as const;
export type SessionFormat = (typeof sessionFormats)[number];

/** A session of another agent as a transcript of ours. */
export interface Session {
  readonly format: SessionFormat;
  /** Empty where the format does not record it. */
  readonly system: string;
  readonly tools: readonly transcript.ToolSchema[];
  readonly entries: readonly transcript.Entry[];
  /** What was odd but tolerated, such as a truncated last line. */
  readonly warnings: readonly string[];
}

/** A file that is no session, or a malformed one: says where and what was expected. Ends the command with exit code 2. */
export class SessionFault extends Error {
  override readonly name = 'SessionFault';
  constructor(
    readonly file: string,
    readonly line: number | undefined,
    readonly expected: string,
  ) {
    super(`${file}${line === undefined ? '' : `:${line}`}: ${expected}`);
  }
}
