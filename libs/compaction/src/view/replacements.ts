import { compaction } from '@nightshift/contracts';

/** Replaced parts of visible entries: seq → part or block index → what stands there. */
export type Replacements = ReadonlyMap<number, ReadonlyMap<number, compaction.Replacement>>;

export function replacementsBySeq(list: readonly compaction.Replacement[]): Replacements {
  const bySeq = new Map<number, Map<number, compaction.Replacement>>();
  for (const replacement of list) {
    if (replacement.kind === compaction.ReplacementKind.HIDDEN) continue;
    const parts = bySeq.get(replacement.seq);
    if (parts) parts.set(replacement.part, replacement);
    else bySeq.set(replacement.seq, new Map([[replacement.part, replacement]]));
  }
  return bySeq;
}
