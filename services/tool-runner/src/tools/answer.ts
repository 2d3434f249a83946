import { transcript } from '@nightshift/contracts';
import type { Answer } from './tool';

/** A finished answer of plain text; further fields override. */
export function answer(text: string, more: Partial<Answer> = {}): Answer {
  return {
    parts: [{ text }],
    isError: false,
    outcome: transcript.ToolOutcome.FINISHED,
    seen: [],
    changes: [],
    processesEnded: 0,
    ...more,
  };
}

/** The call did not do what was asked and had no effect. */
export function failure(text: string): Answer {
  return answer(text, { isError: true, outcome: transcript.ToolOutcome.FAILED });
}

export function cancelled(text: string): Answer {
  return answer(text, { isError: true, outcome: transcript.ToolOutcome.CANCELLED });
}

/** Nothing tells whether the effect took place; `check` says how the model can find out. */
export function unknown(text: string): Answer {
  return answer(text, { isError: true, outcome: transcript.ToolOutcome.UNKNOWN });
}
