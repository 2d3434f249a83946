import type { ToolEffect } from '@nightshift/contracts';
import type { Answer } from '../tools/tool';
import type { Journaled } from './journal';
import { unknown } from '../tools/answer';

/** What to do with a call, from what the journal says about it. */
export type Opening =
  | { do: 'run' }
  /** The result is known: it is published (again) without running anything. */
  | { do: 'publish'; answer: Answer };

/**
 * protocol.md part 5: a result is published again; started without result: read-only runs again, edits and writes compare
 * hashes, anything else is unknown and never run twice.
 * @param nowSha256 hash of the file that the intent names, as it is now; empty when there is none.
 */
export function openCall(journaled: Journaled, nowSha256: string): Opening {
  const { started, answer } = journaled;
  if (answer) return { do: 'publish', answer };
  if (!started) return { do: 'run' };
  if (repeatable(started.effect, started.tool)) return { do: 'run' };
  if (started.intent === undefined) return { do: 'publish', answer: unknown(lostCall(started.tool)) };
  const { path, beforeSha256, afterSha256, done } = started.intent;
  if (nowSha256 === afterSha256) return { do: 'publish', answer: done };
  if (nowSha256 === beforeSha256) return { do: 'run' };
  return {
    do: 'publish',
    answer: unknown(
      `The runner was restarted during ${started.tool}, and ${path} is now neither as it was before nor as it was to become. ` +
        'The outcome is unknown: read the file before you change it again.',
    ),
  };
}

/** Reading changes nothing, and stopping what is stopped changes nothing either. */
function repeatable(effect: ToolEffect, name: string): boolean {
  return effect === 'read-only' || name === 'stop_command';
}

function lostCall(name: string): string {
  return (
    `The runner was restarted while ${name} was running; the process was ended with it and its output is lost. ` +
    'The outcome is unknown and the call was not repeated: check what it may have changed (files, running services) before you run it again.'
  );
}
