import { NightshiftError } from '@nightshift/contracts';
import type { compaction } from '@nightshift/contracts';

/** Everything a team or a task may change about when and how much is compacted. */
export interface CompactionPolicy {
  /** Share of the capped window at which a pass starts, 0.1 to 0.9. */
  readonly fraction: number;
  /** No window counts for more than this, in tokens. */
  readonly cap: number;
  /** The threshold is never below this, in tokens. */
  readonly floor: number;
  /** Output reserved where the task sets no maximum, in tokens. */
  readonly defaultReserve: number;
  /** Gates the `on_device` tier and nothing else. */
  readonly tokenCompression: boolean;
  /** A pass keeps at least this much, as far as its landing line allows, in tokens. */
  readonly minRetained: number;
  /** Off: no automatic pass; an overflow is then an explicit error. */
  readonly enabled: boolean;
}

export const defaultPolicy: CompactionPolicy = {
  fraction: 0.5,
  cap: 256_000,
  floor: 2_000,
  defaultReserve: 8_192,
  tokenCompression: true,
  minRetained: 0,
  enabled: true,
};

/** Window of a model that nothing is known about, in tokens; always shown with a flag. */
export const unknownWindow = 32_000;

/**
 * Defaults with overrides laid over them.
 * @throws NightshiftError INVALID_ARGUMENT that lists every value out of range
 */
export function policyWith(overrides: Partial<CompactionPolicy>): CompactionPolicy {
  const policy = { ...defaultPolicy, ...overrides };
  const faults: string[] = [];
  if (!(policy.fraction >= 0.1 && policy.fraction <= 0.9)) faults.push(`fraction: 0.1 to 0.9, got ${policy.fraction}`);
  for (const name of ['cap', 'floor', 'defaultReserve', 'minRetained'] as const) {
    const least = name === 'minRetained' ? 0 : 1;
    if (!Number.isSafeInteger(policy[name]) || policy[name] < least)
      faults.push(`${name}: a whole number from ${least}, got ${policy[name]}`);
  }
  if (faults.length > 0) throw new NightshiftError('INVALID_ARGUMENT', 'compaction policy is out of range', { faults });
  return policy;
}

/**
 * The policy of a message. Absent: the defaults. Given: numbers of 0 mean the default, the two switches are taken as they
 * are, so a sender fills in both.
 */
export function policyFromWire(wire: compaction.Policy | undefined): CompactionPolicy {
  if (!wire) return defaultPolicy;
  return policyWith({
    fraction: wire.fraction || defaultPolicy.fraction,
    cap: wire.cap || defaultPolicy.cap,
    floor: wire.floor || defaultPolicy.floor,
    defaultReserve: wire.defaultReserve || defaultPolicy.defaultReserve,
    minRetained: wire.minRetained,
    tokenCompression: wire.tokenCompression,
    enabled: wire.enabled,
  });
}
