import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { visibleSeqs } from '@nightshift/compaction';
import { routes } from '@nightshift/contracts';
import type { compaction, transcript } from '@nightshift/contracts';

/** Bytes of one page: several of them fit a message of 8 MB together with what the server adds. */
const pageBytes = 2 * 1024 * 1024;

interface Wanted {
  readonly team: string;
  readonly taskId: string;
  readonly job: compaction.Job;
  readonly signal: AbortSignal;
}

/** The entries that the current view shows, in pages. */
@Injectable()
export class Transcripts {
  constructor(private readonly bus: Bus) {}

  async visible(wanted: Wanted): Promise<transcript.Entry[]> {
    const { seqs, afterSeq } = visibleSeqs(wanted.job.checkpoint);
    const kept = await Promise.all(runsOf(seqs).map(([from, to]) => this.range(wanted, from - 1, to)));
    return [...kept.flat(), ...(await this.range(wanted, afterSeq, wanted.job.lastSeq))];
  }

  private async range(wanted: Wanted, after: number, through: number): Promise<transcript.Entry[]> {
    const { team, taskId, signal } = wanted;
    const entries: transcript.Entry[] = [];
    for (let afterSeq = after; afterSeq < through; ) {
      const request = { taskId, afterSeq, throughSeq: through, maxBytes: pageBytes };
      const page = await this.bus.request(routes.transcriptFetch, request, { team, signal });
      entries.push(...page.entries);
      const last = page.entries.at(-1)?.seq;
      if (!page.more || last === undefined) break;
      afterSeq = last;
    }
    return entries;
  }
}

/** Ascending numbers as runs without gaps: [1, 4, 5, 6] → [1, 1], [4, 6]. */
export function runsOf(seqs: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const seq of seqs) {
    const last = runs.at(-1);
    if (last && last[1] === seq - 1) last[1] = seq;
    else runs.push([seq, seq]);
  }
  return runs;
}
