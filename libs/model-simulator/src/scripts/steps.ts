import type { Call, Conversation, Result } from '../conversation';
import { textOf } from '../json';

/** One tool call that is visible in the transcript, with its result as far as it is visible. */
export interface Step {
  readonly call: Call;
  readonly result?: Result;
  /** The result was replaced by a short text that says how to bring it back. */
  readonly hidden: boolean;
}

const PLACEHOLDER_CHARS_MAX = 3_200;

/** All visible calls in order. */
export function stepsOf(conversation: Conversation): Step[] {
  const results = new Map<string, Result>();
  for (const turn of conversation.turns)
    if (turn.role === 'results')
      for (const result of turn.results) if (!results.has(result.callId)) results.set(result.callId, result);
  return conversation.turns.flatMap((turn) =>
    turn.role !== 'assistant'
      ? []
      : turn.calls.map((call) => {
          const result = results.get(call.id);
          return {
            call,
            ...(result === undefined ? {} : { result }),
            hidden: result !== undefined && isPlaceholder(call.name, result.text),
          };
        }),
  );
}

/** A placeholder or a preview names the tool that brings the original back, at its start or its end. */
export function isPlaceholder(tool: string, text: string): boolean {
  if (tool === 'restore_tool_result' || text.length > PLACEHOLDER_CHARS_MAX) return false;
  return /restore_tool_result/.test(`${text.slice(0, 400)}\n${text.slice(-400)}`);
}

/** The id that a placeholder gives for restore_tool_result. */
export function restoreIdIn(text: string): string | undefined {
  return (
    /restore_tool_result[^\w\n]*(?:with)?[^\w\n]*id\W{1,4}([\w][\w.:-]{5,})/.exec(text)?.[1] ??
    /\bid\W{1,3}([\w][\w.:-]{5,})[^\n]*restore_tool_result/.exec(text)?.[1] ??
    /restore_tool_result\W{1,3}([\w][\w.:-]{7,})/.exec(text)?.[1]
  );
}

/** The text of a finished, fully visible step. */
export function visibleText(step: Step | undefined): string | undefined {
  return step?.result === undefined || step.hidden || step.result.isError ? undefined : step.result.text;
}

export function commandOf(step: Step): string {
  return step.call.name === 'run_command' ? textOf(step.call.arguments['command']) : '';
}

export function pathOf(step: Step): string {
  return textOf(step.call.arguments['path']);
}

/** The newest step that fits. */
export function lastStep(steps: readonly Step[], fits: (step: Step) => boolean): Step | undefined {
  return steps.findLast(fits);
}

/** All texts in which the platform or the user speaks, oldest first. */
export function spokenTexts(conversation: Conversation): string[] {
  return conversation.turns.flatMap((turn) => (turn.role === 'user' ? turn.texts : []));
}
