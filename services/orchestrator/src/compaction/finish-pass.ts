import { fromBinary } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { crashPoint } from '@nightshift/config';
import { NightshiftError, compaction, routes, task } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import { Logger, Metrics } from '@nightshift/metrics';
import { WindowReader } from '@nightshift/windows';
import { candidateOf, contextOf } from '../steps/context';
import { PreparedTasks } from '../steps/prepared';
import { Committed } from '../tasks/committed';
import { EntryStore } from '../tasks/entry.store';
import type { Outcome } from '../tasks/outcome';
import type { Recorded } from '../tasks/record.store';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { foldPass } from './fold-pass';
import { PassStore } from './pass.store';

/** Commits the result of a pass: one per generation, by compare-and-set on pass and generation under the row lock. */
@Injectable()
export class FinishPass {
  constructor(
    private readonly bus: Bus,
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly passes: PassStore,
    private readonly prepared: PreparedTasks,
    private readonly windows: WindowReader,
    private readonly entries: EntryStore,
    private readonly committed: Committed,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** A result of a pass that is closed, or of another generation, is dropped and counted. */
  async finish(team: string, finished: compaction.Finished): Promise<void> {
    const before = await this.tasks.find(team, finished.taskId);
    if (!before || !isOpen(before, finished)) return this.drop(finished);
    const checkpoint = await this.checkpoint(team, before, finished);
    const prepared = await this.prepared.of(before);
    const boundary = (await this.entries.checkpoint(team, before.id, before.generation))?.hiddenThroughSeq ?? 0;
    const largest = await this.passes.largest(team, before.id, boundary);
    const done = await transaction(this.pool, async (client): Promise<{ outcome: Outcome; recorded: Recorded } | undefined> => {
      const row = await this.tasks.lock(client, team, finished.taskId);
      if (!row || !isOpen(row, finished)) return undefined;
      const pass = await this.passes.find(client, team, row.id, finished.passId);
      if (!pass || pass.endedAt !== undefined) return undefined;
      const candidate = candidateOf(row, prepared);
      const window = this.windows.get(candidate.provider, candidate.endpoint, candidate.model, team);
      const folded = foldPass({
        row,
        finished,
        checkpoint,
        threshold: contextOf(row, prepared, candidate, window).threshold,
        provider: candidate.provider,
        model: candidate.model,
        largerCandidate: prepared.details.chain.findIndex(
          (one, index) =>
            index > row.chainPosition && this.windows.get(one.provider, one.endpoint, one.model, team).window > window.window,
        ),
        largest,
        elapsedMs: pass.elapsedMs,
      });
      const generation = folded.outcome.row.generation ?? row.generation;
      await this.passes.ended(
        client,
        { team, task: row.id, pass: finished.passId },
        {
          outcome: folded.passOutcome,
          report: finished,
          lastSeq: row.lastSeq,
          committed: folded.checkpoint && { generation, checkpoint: folded.checkpoint },
        },
      );
      crashPoint('orchestrator.pass_ended');
      const recorded = await this.committed.recordLocked(client, row, folded.outcome);
      return recorded && { outcome: folded.outcome, recorded };
    });
    if (!done) return this.drop(finished);
    await this.committed.after(done.outcome, done.recorded);
  }

  private async checkpoint(
    team: string,
    row: TaskRow,
    finished: compaction.Finished,
  ): Promise<compaction.Checkpoint | undefined> {
    const { checkpointStored: stored } = finished;
    if (!stored) return finished.checkpoint;
    const chunks: Uint8Array[] = [];
    for (let offset = 0; ; ) {
      const page = await this.bus.request(routes.toolresultGet, { rootId: row.rootId, id: stored.id, offset }, { team });
      chunks.push(page.content);
      offset += page.content.length;
      if (!page.more) break;
      if (page.content.length === 0)
        throw new NightshiftError('INTERNAL', `the stored checkpoint ${stored.id} has an empty page`);
    }
    return fromBinary(compaction.CheckpointSchema, Buffer.concat(chunks));
  }

  private drop(finished: compaction.Finished): void {
    this.metrics.counter('compaction_results_dropped').inc();
    this.logger.info({ task: finished.taskId, pass: finished.passId }, 'a result of a closed pass was dropped');
  }
}

function isOpen(row: TaskRow, finished: Pick<compaction.Finished, 'passId' | 'basedOnGeneration'>): boolean {
  return (
    row.state === task.TaskState.COMPACTING && row.passId === finished.passId && row.generation === finished.basedOnGeneration
  );
}
