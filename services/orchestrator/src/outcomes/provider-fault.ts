import { compaction, task } from '@nightshift/contracts';
import type { NightshiftError } from '@nightshift/contracts';
import { nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';
import { paused } from './answer';

/** Not-now answers in a row before a person has to look: about an hour at the longest wait. */
const retryLimit = 60;
const longestWaitMs = 60_000;

/**
 * Folds a failed model call into the task. Overflow never moves to a smaller window: it asks for a pass. "Not now" is
 * recorded as a timer, so that neither a queue slot nor an attempt is used up by waiting.
 * @returns undefined when the fault is none of the provider's: the step itself failed and is delivered again
 */
export function foldFault(row: TaskRow, error: NightshiftError, chainLength: number): Outcome | undefined {
  const { memory } = row;
  switch (error.code) {
    case 'PROVIDER_OVERFLOW':
    case 'PROVIDER_REQUEST_CEILING':
      return passDue(row, compaction.PassReason.OVERFLOW, row.chainPosition, error);
    case 'COMPACT_FIRST': {
      const position = Number(error.details.chainPosition ?? error.details.chain_position ?? row.chainPosition);
      const known = Number.isInteger(position) && position >= 0 && position < chainLength ? position : row.chainPosition;
      return passDue(row, compaction.PassReason.MODEL_SWITCH, known, error);
    }
    case 'BUSY':
    case 'PROVIDER_RATE_LIMITED':
    case 'PROVIDER_OVERLOADED':
    case 'PROVIDER_UNAVAILABLE':
    case 'PROVIDER_TRUNCATED':
    case 'PROVIDER_CHAIN_EXHAUSTED':
    case 'UNAVAILABLE':
    case 'DEADLINE_EXCEEDED': {
      const retries = memory.retries + 1;
      if (retries > retryLimit)
        return { ...nothing, row: { ...paused(`no model answers: ${error.message}`), memory: { ...memory, retries: 0 } } };
      const dueInMs = Math.min(600_000, Math.max(error.retryAfterMs, Math.min(longestWaitMs, 500 * 2 ** Math.min(retries, 10))));
      return {
        ...nothing,
        row: {
          state: task.TaskState.WAITING,
          pending: task.Pending.TIMER,
          reason: `waiting for a model: ${error.message}`,
          dueInMs,
          memory: { ...memory, retries },
        },
        events: [{ kind: 'model_call_failed', data: { code: error.code, message: error.text, retryInMs: dueInMs } }],
      };
    }
    case 'CONTEXT_IRREDUCIBLE':
      return {
        ...nothing,
        row: { state: task.TaskState.FAILED, pending: task.Pending.NONE, reason: error.message },
        events: [{ kind: 'model_call_failed', data: { code: error.code, message: error.text } }],
      };
    case 'PROVIDER_OUTPUT_CAP':
    case 'PROVIDER_QUOTA':
    case 'PROVIDER_CONTENT_FILTER':
    case 'PROVIDER_AUTH':
    case 'PROVIDER_NOT_FOUND':
    case 'PROVIDER_INVALID_REQUEST':
    case 'PERMISSION_DENIED':
    case 'NOT_FOUND':
    case 'INVALID_ARGUMENT':
    case 'FAILED_PRECONDITION':
    case 'PAYLOAD_TOO_LARGE':
      return {
        ...nothing,
        row: paused(error.message),
        events: [{ kind: 'model_call_failed', data: { code: error.code, message: error.text } }],
      };
    case 'UNAUTHENTICATED':
    case 'CONFLICT':
    case 'FENCED':
    case 'CANCELLED':
    case 'INTERNAL':
    case 'SANDBOX_UNAVAILABLE':
    case 'WORKSPACE_LOST':
      return undefined;
  }
}

function passDue(row: TaskRow, reason: compaction.PassReason, chainPosition: number, error: NightshiftError): Outcome {
  return {
    ...nothing,
    row: { pending: task.Pending.STEP, chainPosition, memory: { ...row.memory, passDue: reason } },
    events: [{ kind: 'model_call_failed', data: { code: error.code, message: error.text, ...error.details } }],
  };
}
