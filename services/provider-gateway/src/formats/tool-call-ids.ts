import { createHash } from 'node:crypto';
import type { transcript } from '@nightshift/contracts';

/** Which id each tool call of a view gets on the wire. */
export interface WireIds {
  /** Keyed by our id; a result whose call is not in the view keeps its own id, so that the provider reports it. */
  of(callId: string): string;
}

export interface WireIdRules {
  provider: string;
  /** Ids the format accepts. */
  accepts: RegExp;
  nineAlphanumeric: boolean;
}

/**
 * The provider's own id where that provider gave it, is valid and was not used before in this view; else ours. Some
 * servers number the calls of every answer from 0 again, which another provider refuses as duplicates.
 * Deterministic in the order of the view, so that a growing transcript keeps its prefix.
 */
export function wireIds(messages: readonly transcript.ViewMessage[], rules: WireIdRules): WireIds {
  const used = new Set<string>();
  const ids = new Map<string, string>();
  for (const message of messages) {
    if (message.body.case !== 'assistant') continue;
    for (const block of message.body.value.blocks) {
      if (block.kind.case !== 'toolCall') continue;
      const call = block.kind.value;
      const own =
        message.body.value.provider === rules.provider && rules.accepts.test(call.providerId) && !used.has(call.providerId);
      const id = own ? call.providerId : rules.nineAlphanumeric ? nineOf(call.id) : call.id;
      used.add(id);
      ids.set(call.id, id);
    }
  }
  return { of: (callId) => ids.get(callId) ?? callId };
}

/** 45 bits of a hash in letters and digits. */
function nineOf(id: string): string {
  return BigInt(`0x${createHash('sha256').update(id).digest('hex').slice(0, 16)}`)
    .toString(36)
    .padStart(9, '0')
    .slice(-9);
}
