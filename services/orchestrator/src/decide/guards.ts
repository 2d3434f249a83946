import { createHash } from 'node:crypto';
import type { Guards } from '../tasks/task-row';

/** A call of a closed batch, as the guards judge it. */
export interface JudgedCall {
  readonly tool: string;
  readonly argumentsJson: string;
  readonly failed: boolean;
  /** Hash of the result's text: the same call with a new answer is no repetition (polling a build, for example). */
  readonly resultText: string;
  /** Files this call changed, with the hashes before and after. */
  readonly changes: readonly { readonly path: string; readonly before: string; readonly after: string }[];
}

export type GuardKind = 'repetition' | 'ping_pong' | 'no_progress';

export interface GuardVerdict {
  readonly guards: Guards;
  /** Told to the model once per kind. */
  readonly notes: readonly { readonly kind: GuardKind; readonly text: string }[];
  /** The task stops with this reason: it was told, and it went on. */
  readonly stop?: string;
}

const remembered = 12;
const limits = {
  repetition: { tell: 3, stop: 6 },
  ping_pong: { tell: 3, stop: 6 },
  stale: { tell: 12, stop: 24 },
  failing: { tell: 6, stop: 12 },
} as const;

/**
 * Judges the calls of one closed batch. Each guard tells the model once, then stops the task: a call repeated with the
 * same answer (3, 6 times), an edit that swings back to a state the file had two edits ago (3, 6), calls that show
 * nothing new (12, 24) and calls that all fail (6, 12).
 */
export function judge(before: Guards, calls: readonly JudgedCall[]): GuardVerdict {
  let guards = before;
  for (const call of calls) guards = judgeOne(guards, call);
  const over = (value: number, limit: number): boolean => value >= limit;
  const found: { kind: GuardKind; text: string; tells: boolean; stops: boolean }[] = [
    {
      kind: 'repetition',
      text: `You have sent the same call ${guards.repeats + 1} times and got the same answer. Do something else.`,
      tells: over(guards.repeats + 1, limits.repetition.tell),
      stops: over(guards.repeats + 1, limits.repetition.stop),
    },
    {
      kind: 'ping_pong',
      text: 'Your edits switch a file back and forth between the same states. Decide for one, and check it.',
      tells: over(guards.swings, limits.ping_pong.tell),
      stops: over(guards.swings, limits.ping_pong.stop),
    },
    {
      kind: 'no_progress',
      text: 'Your latest calls showed nothing new or failed. Change the approach, ask with ask_user, or finish.',
      tells: over(guards.stale, limits.stale.tell) || over(guards.failing, limits.failing.tell),
      stops: over(guards.stale, limits.stale.stop) || over(guards.failing, limits.failing.stop),
    },
  ];
  const stop = found.find(({ stops }) => stops);
  const told = found.filter(({ kind, tells }) => tells && !guards.told.includes(kind));
  // Below the limits again: the next time counts as a new one, and is told again.
  const forgotten = guards.told.filter((kind) => found.some((one) => one.kind === kind && one.tells));
  return {
    guards: { ...guards, told: [...forgotten, ...told.map(({ kind }) => kind)] },
    notes: told.map(({ kind, text }) => ({ kind, text })),
    stop: stop && `stopped by the loop guard "${stop.kind}": ${stop.text}`,
  };
}

function judgeOne(guards: Guards, call: JudgedCall): Guards {
  const print = fingerprint(call.tool, call.argumentsJson, call.resultText);
  const known = guards.recent.includes(print);
  const states = call.changes.map(({ path, after }) => fingerprint('state', path, after));
  const origins = call.changes.map(({ path, before }) => fingerprint('state', path, before));
  const swings = states.some((state) => guards.recent.includes(state));
  return {
    ...guards,
    repeats: guards.recent[guards.recent.length - 1] === print ? guards.repeats + 1 : 0,
    stale: known ? guards.stale + 1 : 0,
    failing: call.failed ? guards.failing + 1 : 0,
    swings: swings ? guards.swings + 1 : states.length > 0 ? 0 : guards.swings,
    recent: [...guards.recent, ...origins.filter((origin) => !guards.recent.includes(origin)), ...states, print].slice(
      -remembered,
    ),
  };
}

/** Eight characters are enough to compare the last dozen, and keep the row small. */
function fingerprint(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\u0000')).digest('base64url').slice(0, 8);
}
