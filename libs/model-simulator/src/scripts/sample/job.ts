import type { Move } from '../../answer';
import type { Conversation } from '../../conversation';
import type { JsonObject } from '../../json';
import { stepsOf, type Step } from '../steps';
import { criteriaSeen, planSeen, type Criterion, type Item } from './plan';

/** Size of the job. */
export interface JobSize {
  readonly files: number;
  readonly perBatch: number;
  /** Files of fewer bytes are left out of the list. */
  readonly smallestBytes: number;
  readonly largestBytes: number;
}

/** Everything that decides the next move. */
export interface View {
  readonly conversation: Conversation;
  readonly steps: readonly Step[];
  readonly items: readonly Item[];
  readonly criteria: readonly Criterion[];
  readonly size: JobSize;
}

export const inventory = 'INVENTORY.md';
export const listFile = '.inventory/files.txt';
export const restoredFile = '.inventory/restored.txt';

export function viewOf(conversation: Conversation, size: JobSize): View {
  const steps = stepsOf(conversation);
  return { conversation, steps, items: planSeen(conversation, steps), criteria: criteriaSeen(conversation, steps), size };
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

export function call(name: string, args: JsonObject): ToolCall {
  return { name, arguments: args };
}

export function command(text: string): ToolCall {
  return call('run_command', { command: text });
}

export function move(text: string, ...calls: readonly ToolCall[]): Move {
  return { text, calls };
}

/** The plan with one more item done; the one after it is being worked on. */
export function planWith(view: View, doneText: string): ToolCall {
  const items = view.items.map((item): Item => (item.text === doneText ? { ...item, state: 'done' } : item));
  const next = items.find((item) => item.state !== 'done')?.text;
  return call('update_plan', {
    items: items.map(({ text, state }) => ({ text, state: state === 'done' ? 'done' : text === next ? 'doing' : 'todo' })),
  });
}

/** How often a call was made already in what is visible: a step that keeps failing is not tried for ever. */
export function attempts(view: View, fits: (step: Step) => boolean): number {
  return view.steps.filter(fits).length;
}

/** `sums` prints SHA-256 as sha256sum does, also where only Perl's shasum is there (macOS). */
export const defineSums = 'sums() { if command -v sha256sum > /dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }';

/** Single quotes for the shell. */
export function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
