import { compaction } from '@nightshift/contracts';

/** The parts of the message that stands for everything hidden: summary, digest, what can be restored. */
export function summaryParts(checkpoint: compaction.Checkpoint): string[] {
  const parts: string[] = [];
  if (checkpoint.summary) parts.push(summaryPart(checkpoint.summary));
  if (checkpoint.digest) parts.push(checkpoint.digest);
  const users = listedPart(checkpoint.listedUsers);
  if (users) parts.push(users);
  const restorable = restorablePart(checkpoint);
  if (restorable) parts.push(restorable);
  return parts;
}

export function summaryPart(summary: string): string {
  return `Summary of the earlier conversation, which is hidden now:\n\n${summary}`;
}

export function listedPart(listed: readonly compaction.Listed[]): string {
  if (listed.length === 0) return '';
  return ['Earlier messages of the user, shortened (restore_tool_result gives the whole):', ...listed.map(listedLine)].join('\n');
}

export function listedLine(listed: compaction.Listed): string {
  return `- ${listed.stored?.id ?? ''}: ${listed.text}`;
}

/** Hidden results one by one, newest last, and the newest archive, which leads to the earlier ones. */
export function restorablePart(checkpoint: compaction.Checkpoint): string {
  const lines = checkpoint.replacements.filter((r) => r.kind === compaction.ReplacementKind.HIDDEN).map((r) => r.text);
  const newest = checkpoint.archives.at(-1);
  if (lines.length === 0 && !newest) return '';
  const head = 'Hidden, restorable with restore_tool_result {"id": …, "search": …}:';
  return [head, ...(newest ? [archiveLine(newest)] : []), ...lines].join('\n');
}

export function archiveLine(archive: compaction.Archive): string {
  return `- ${archive.stored?.id ?? ''}: entries ${archive.fromSeq} to ${archive.throughSeq}, one per line; its first line names the archive before it`;
}

/** Goal, plan, edited files and live handles as their sources say now: one part each. */
export function blockParts(checkpoint: Pick<compaction.Checkpoint, 'reinjected'>): string[] {
  return checkpoint.reinjected.map(reinjectedPart);
}

export function reinjectedPart(item: compaction.Reinjected): string {
  return `[${item.kind}${item.label ? `: ${item.label}` : ''}]\n${item.text}`;
}
