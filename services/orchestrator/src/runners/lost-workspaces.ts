import { Injectable } from '@nestjs/common';
import { task, transcript } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import { textResult } from '../outcomes/calls';
import { closedCall } from '../outcomes/close-batch';
import { PreparedTasks } from '../steps/prepared';
import { Committed } from '../tasks/committed';
import { both, nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { CallStore } from '../tools/call.store';
import { RunnerStore } from './runner.store';

const unknownText =
  'The outcome is unknown: the machine that ran this call was lost while it ran. It may have taken effect in part, in whole or not at all. Check the state before you repeat it.';

/** Notices that the runner of a task is gone (its lease of 60 s ended) while calls are open. */
@Injectable()
export class LostWorkspaces {
  constructor(
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly calls: CallStore,
    private readonly runners: RunnerStore,
    private readonly prepared: PreparedTasks,
    private readonly committed: Committed,
  ) {}

  /**
   * Parks the task when its runner is gone: what had started is closed as unknown, the rest runs once the runner is back,
   * or, after a resume, on a fresh workspace.
   * @returns true when it was
   */
  async check(row: TaskRow): Promise<boolean> {
    const { workspace } = (await this.prepared.of(row)).details;
    if (!workspace?.runner || (await this.runners.isLive(workspace.runner))) return false;
    const done = await transaction(this.pool, async (client) => {
      const locked = await this.tasks.lock(client, row.teamId, row.id);
      const { batch } = locked?.memory ?? {};
      if (!locked || !batch || locked.epoch !== row.epoch || locked.pending !== task.Pending.TOOLS) return undefined;
      const started = (await this.calls.batch(row.teamId, row.id, batch.seq, client)).filter(({ state }) => state === 'started');
      let outcome: Outcome = {
        ...nothing,
        row: {
          state: task.TaskState.WAITING,
          pending: task.Pending.TIMER,
          dueInMs: 1_000,
          reason: `workspace lost: runner ${workspace.runner} is silent`,
          memory: { ...locked.memory, workspace: 'lost' },
        },
        events: [{ kind: 'workspace_lost', data: { runner: workspace.runner } }],
      };
      for (const call of started) {
        const result = textResult(call, unknownText, transcript.ToolOutcome.UNKNOWN);
        outcome = both(outcome, {
          ...nothing,
          ...closedCall(call, result, 0),
          closedCalls: [{ callId: call.callId, state: 'unknown', result }],
        });
      }
      const recorded = await this.committed.recordLocked(client, locked, outcome);
      return recorded && { outcome, recorded };
    });
    if (done) await this.committed.after(done.outcome, done.recorded);
    return true;
  }
}
