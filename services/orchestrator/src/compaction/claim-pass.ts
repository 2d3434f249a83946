import type { MessageInitShape } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { isOver } from '@nightshift/compaction';
import { compaction, task } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import { WindowReader } from '@nightshift/windows';
import { candidateOf, contextOf } from '../steps/context';
import { PreparedTasks } from '../steps/prepared';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { FinishPass } from './finish-pass';
import { JobSources } from './job-sources';
import { PassStore } from './pass.store';

type Reply = MessageInitShape<typeof compaction.ClaimReplySchema>;

/** The whole of a pass may take 300 s; a claim older than this belongs to a worker that is gone. */
const claimLeaseMs = 330_000;

/** The first act of a worker: gives it the pass, unless it is closed, cancelled, running elsewhere or no longer due. */
@Injectable()
export class ClaimPass {
  constructor(
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly passes: PassStore,
    private readonly prepared: PreparedTasks,
    private readonly windows: WindowReader,
    private readonly sources: JobSources,
    private readonly finishes: FinishPass,
  ) {}

  async claim(team: string, request: compaction.ClaimRequest): Promise<Reply> {
    const claimed = await transaction(this.pool, async (client): Promise<TaskRow | string> => {
      const row = await this.tasks.lock(client, team, request.taskId);
      if (!row) return 'closed';
      if (row.state === task.TaskState.CANCELLING || row.state === task.TaskState.CANCELLED) return 'cancelled';
      const pass = await this.passes.find(client, team, row.id, request.passId);
      if (row.state !== task.TaskState.COMPACTING || row.passId !== request.passId || !pass || pass.endedAt !== undefined)
        return 'closed';
      // A second publishing of the same pass has delivery 1 while the first is being worked on; a redelivery has more.
      const elsewhere = pass.claimedAt !== undefined && pass.claimedMsAgo < claimLeaseMs && request.delivery <= 1;
      if (elsewhere && pass.worker !== request.worker) return 'closed';
      await this.passes.claimed(client, team, row.id, request.passId, request.worker);
      // Nothing is published again while the worker has its time; if it dies, the queue delivers the same message again.
      await client.query(`UPDATE tasks SET due_at = now() + $3 * interval '1 millisecond' WHERE team_id = $1 AND id = $2`, [
        team,
        row.id,
        claimLeaseMs,
      ]);
      return row;
    });
    if (typeof claimed === 'string') return { granted: false, reason: claimed };
    if (await this.closedAsNotDue(team, claimed, request.passId)) return { granted: false, reason: 'no_longer_due' };
    return { granted: true, reason: 'granted', job: await this.job(team, claimed) };
  }

  /** The window grew before a worker came: the task goes on without a pass. */
  private async closedAsNotDue(team: string, row: TaskRow, passId: string): Promise<boolean> {
    const prepared = await this.prepared.of(row);
    const candidate = candidateOf(row, prepared);
    const window = this.windows.get(candidate.provider, candidate.endpoint, candidate.model, team);
    const { threshold } = contextOf(row, prepared, candidate, window);
    const { pass, over } = row.memory;
    if (pass?.reason !== compaction.PassReason.THRESHOLD || !over || isOver(pass.measured, threshold)) return false;
    await this.finishes.finish(
      team,
      create(compaction.FinishedSchema, {
        taskId: row.id,
        passId,
        basedOnGeneration: row.generation,
        outcome: compaction.PassOutcome.NO_LONGER_DUE,
        reason: `${pass.measured} tokens are below the threshold of ${threshold.effective} now`,
        window: threshold.window,
        threshold: threshold.threshold,
        effectiveThreshold: threshold.effective,
        before: pass.measured,
        after: pass.measured,
      }),
    );
    return true;
  }

  private async job(team: string, row: TaskRow): Promise<MessageInitShape<typeof compaction.JobSchema>> {
    const prepared = await this.prepared.of(row);
    const candidate = candidateOf(row, prepared);
    return this.sources.job(team, row, prepared, candidate);
  }
}
