import { NightshiftError } from '@nightshift/contracts';
import { defaultPolicy, unknownWindow } from './policy';
import type { CompactionPolicy } from './policy';

/** Sizes that no pass can change, in tokens. */
export interface FixedParts {
  readonly system: number;
  readonly tools: number;
  readonly firstMessage: number;
  readonly goalAndPlan: number;
}

export interface ThresholdInput {
  /** Context window of the model in use; 0 = unknown, which counts as 32 000. */
  readonly window: number;
  /** Input limit where the provider has one of its own; 0 = none. */
  readonly inputMax?: number;
  /** Configured max output tokens; 0 = the provider's default. */
  readonly maxOutput?: number;
  readonly policy?: CompactionPolicy;
  readonly fixed?: FixedParts;
}

export interface Irreducible {
  readonly parts: FixedParts;
  readonly fixed: number;
  /** What is left of the window for everything else: less than 1 000. */
  readonly room: number;
  /** The smallest window in which the same parts would fit. */
  readonly smallestWindow: number;
  readonly message: string;
}

export interface Threshold {
  /** T: compact when measured tokens are strictly greater. */
  readonly threshold: number;
  /** T′: T raised for small windows; everything uses this one. */
  readonly effective: number;
  /** H: above it a request is not sent at all. */
  readonly hardLimit: number;
  readonly window: number;
  readonly unknown: boolean;
  /** T′ differs from T. */
  readonly tight: boolean;
  readonly parts: { readonly fraction: number; readonly reserve: number; readonly room: number; readonly fixed: number };
  /** Which value decided T: the fraction, the room left by the output, or the floor. */
  readonly applied: 'fraction' | 'room' | 'floor';
  readonly why: string;
  readonly irreducible?: Irreducible;
}

export const noFixedParts: FixedParts = { system: 0, tools: 0, firstMessage: 0, goalAndPlan: 0 };

/** Least room beside the fixed parts, in tokens; below it the task cannot run. */
const leastRoom = 1_000;

/** H: the window less a safety margin of a quarter, between 1 024 and 8 192. */
export function hardLimitOf(window: number, inputMax = 0): number {
  const limit = window - Math.max(1_024, Math.min(8_192, Math.floor(window / 4)));
  return inputMax > 0 ? Math.min(limit, inputMax) : limit;
}

/**
 * When a task compacts. All figures in tokens.
 * @throws NightshiftError INVALID_ARGUMENT when an overridden floor would leave no room for the output
 */
export function thresholdFor(input: ThresholdInput): Threshold {
  const policy = input.policy ?? defaultPolicy;
  const unknown = !(input.window > 0);
  const window = unknown ? unknownWindow : Math.floor(input.window);
  const inputMax = input.inputMax && input.inputMax > 0 && input.inputMax < window ? input.inputMax : 0;
  const maxOutput = input.maxOutput ?? 0;
  const parts = input.fixed ?? noFixedParts;
  const fixed = parts.system + parts.tools + parts.firstMessage + parts.goalAndPlan;

  // The fraction is of the capped window, the room of the real one: mixing the two up made 272 000 / 256 000 fall to 16 000.
  const base = Math.min(inputMax || window, policy.cap);
  const fraction = Math.floor(base * policy.fraction + 1e-6);
  const reserve = maxOutput > 0 ? Math.min(maxOutput, Math.floor(window / 2)) : policy.defaultReserve;
  const room = window - reserve;
  const threshold = Math.max(policy.floor, Math.min(fraction, room));
  if (policy.floor > defaultPolicy.floor && threshold > room) {
    throw new NightshiftError(
      'INVALID_ARGUMENT',
      `floor ${policy.floor} exceeds window ${window} less reserved output ${reserve}`,
      {
        faults: [`floor: at most ${room} for this model, got ${policy.floor}`],
      },
    );
  }
  const applied = threshold > Math.min(fraction, room) ? 'floor' : fraction <= room ? 'fraction' : 'room';

  const hardLimit = hardLimitOf(window, inputMax);
  const effective = Math.min(hardLimit, Math.max(threshold, fixed + Math.min(8_000, Math.floor(0.75 * (hardLimit - fixed)))));
  const irreducible = hardLimit - fixed < leastRoom ? irreducibleFor(parts, fixed, hardLimit - fixed, window) : undefined;
  return {
    threshold,
    effective,
    hardLimit,
    window,
    unknown,
    tight: effective !== threshold,
    parts: { fraction, reserve, room, fixed },
    applied,
    why: whyOf({ applied, policy, base, inputMax, window, fraction, reserve, room, threshold, effective, unknown }),
    ...(irreducible ? { irreducible } : {}),
  };
}

interface Reasons {
  applied: Threshold['applied'];
  policy: CompactionPolicy;
  base: number;
  inputMax: number;
  window: number;
  fraction: number;
  reserve: number;
  room: number;
  threshold: number;
  effective: number;
  unknown: boolean;
}

function whyOf(r: Reasons): string {
  const limited = r.inputMax > 0 && r.base === r.inputMax ? 'input limit' : r.base === r.window ? 'window' : 'cap';
  const head = {
    fraction: `${r.policy.fraction} of ${limited} ${r.base}`,
    room: `window ${r.window} less reserved output ${r.reserve}`,
    floor: `floor ${r.policy.floor} (${r.policy.fraction} of ${r.base} = ${r.fraction}, room ${r.room})`,
  }[r.applied];
  const tight = r.effective === r.threshold ? '' : `; tight: ${r.effective} in effect`;
  return `${head}${r.unknown ? '; window unknown, 32000 assumed' : ''}${tight}`;
}

function irreducibleFor(parts: FixedParts, fixed: number, room: number, window: number): Irreducible {
  let low = fixed + leastRoom;
  let high = 2 * (fixed + leastRoom) + 8_192;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (hardLimitOf(middle) - fixed >= leastRoom) high = middle;
    else low = middle + 1;
  }
  const message =
    `system prompt ${parts.system}, tool schemas ${parts.tools}, first message ${parts.firstMessage}, ` +
    `goal and plan ${parts.goalAndPlan} tokens leave ${room} of window ${window}; the smallest window that would do is ${low}`;
  return { parts, fixed, room, smallestWindow: low, message };
}

/** True when a pass is due: strictly above the threshold in effect, never at it. */
export function isOver(measured: number, threshold: Threshold): boolean {
  return measured > threshold.effective;
}
