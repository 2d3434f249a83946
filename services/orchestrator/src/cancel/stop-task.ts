import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { crashPoint } from '@nightshift/config';
import { fromMs, routes, task } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import { RunnerStore } from '../runners/runner.store';
import { Committed } from '../tasks/committed';
import { count, nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { StoredReceipt, TaskDetails } from '../tasks/task-details';
import type { TaskRow } from '../tasks/task-row';
import { emptyReceipt, foldStop } from './receipt';
import type { StopNeeds } from './receipt';

/** One round of answers, in ms; who still ends processes then is asked again. */
const roundMs = 250;
/** A lease of the database: after this a compactor or gateway that does not answer is gone, and its work with it. */
const goneAfterMs = 20_000;
/** How long one step keeps asking before it leaves the rest to a later one, in ms. */
const patienceMs = 10_000;

/** Stops everything that works for a cancelled task, and asks until each party has confirmed it. */
@Injectable()
export class StopTask {
  constructor(
    private readonly bus: Bus,
    private readonly pool: Pool,
    private readonly runners: RunnerStore,
    private readonly committed: Committed,
  ) {}

  async run(row: TaskRow, details: TaskDetails, signal: AbortSignal): Promise<void> {
    const until = Date.now() + patienceMs;
    let receipt = details.receipt ?? emptyReceipt(Date.now());
    while (!signal.aborted) {
      const needs = await this.needs(row, details, receipt);
      const replies = await this.bus.gather(
        routes.taskStop,
        {
          taskId: row.id,
          askedAtMs: fromMs(receipt.askedAt),
          workspaceIds: details.workspace ? [details.workspace.id] : [],
        },
        { team: row.teamId, waitMs: roundMs },
      );
      receipt = foldStop(receipt, needs, replies, Date.now());
      if (receipt.complete || Date.now() > until) break;
    }
    crashPoint('orchestrator.stopped');
    const callsStartedAfter = await this.startedAfter(row, receipt.askedAt);
    await this.committed.record(stopped(row, { ...receipt, callsStartedAfter }), { row, leased: true, now: Date.now() });
  }

  private async needs(row: TaskRow, details: TaskDetails, receipt: StoredReceipt): Promise<StopNeeds> {
    const gone = Date.now() - receipt.askedAt > goneAfterMs;
    const runner = details.workspace?.runner ?? '';
    const live = runner === '' ? [] : await this.runners.live();
    const { rows } = await this.pool.query<{ claimed: boolean }>({
      name: 'claimed_passes',
      text: `SELECT EXISTS (SELECT 1 FROM task_checkpoints WHERE team_id = $1 AND task_id = $2 AND claimed_at IS NOT NULL
        AND (ended_at IS NULL OR ended_at >= to_timestamp($3 / 1000.0))) AS claimed`,
      values: [row.teamId, row.id, receipt.askedAt],
    });
    return {
      // Whether a call was open when the epoch moved on is not known any more; before the workspace there was none.
      gateway: row.memory.workspace !== 'due' && !gone,
      runner: live.some(({ id }) => id === runner) ? runner : undefined,
      compactor: (rows[0]?.claimed ?? false) && !gone,
    };
  }

  private async startedAfter(row: TaskRow, askedAt: number): Promise<number> {
    const { rows } = await this.pool.query<{ started: number }>({
      name: 'calls_started_after',
      text: `SELECT count(*)::int AS started FROM tool_calls WHERE team_id = $1 AND task_id = $2 AND started_at > to_timestamp($3 / 1000.0)`,
      values: [row.teamId, row.id, askedAt],
    });
    return rows[0]?.started ?? 0;
  }
}

/** Cancelled once proven; otherwise the question is repeated in a while. */
function stopped(row: TaskRow, receipt: StoredReceipt): Outcome {
  if (!receipt.complete) {
    return {
      ...nothing,
      row: { state: task.TaskState.CANCELLING, pending: task.Pending.TIMER, dueInMs: 1_000, reason: row.reason },
      details: { receipt },
    };
  }
  return {
    ...nothing,
    row: { state: task.TaskState.CANCELLED, pending: task.Pending.NONE, reason: row.reason, passId: undefined },
    details: { receipt },
    events: [{ kind: 'cancelled', data: { ...receipt } }],
    counted: [
      count('task_cancels', { receipt: 'complete' }),
      ...(receipt.callsStartedAfter > 0 ? [count('task_calls_after_cancel', {}, receipt.callsStartedAfter)] : []),
    ],
  };
}
