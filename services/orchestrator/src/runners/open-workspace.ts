import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { NightshiftError, routes, task } from '@nightshift/contracts';
import { nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { TaskDetails } from '../tasks/task-details';
import type { TaskRow } from '../tasks/task-row';
import { pickRunner } from './pick-runner';
import { RunnerStore } from './runner.store';

/** How long until the next look for a runner, in ms. */
const noRunnerWaitMs = 2_000;
/** How long until the next look for a runner that is silent, in ms. */
const lostWaitMs = 5_000;

/** Opens the workspace of a task on a runner, before its first model call. Repeating it opens the same one. */
@Injectable()
export class OpenWorkspace {
  constructor(
    private readonly bus: Bus,
    private readonly runners: RunnerStore,
  ) {}

  async perform(row: TaskRow, details: TaskDetails, signal: AbortSignal): Promise<Outcome> {
    const { workspace } = details;
    if (!workspace) return { ...nothing, row: { pending: task.Pending.STEP, memory: { ...row.memory, workspace: 'none' } } };
    const live = await this.runners.live();
    if (row.memory.workspace === 'lost' && !live.some(({ id }) => id === workspace.runner)) {
      return waitFor(
        `workspace lost: runner ${workspace.runner} is silent; resume the task to go on with a fresh one`,
        lostWaitMs,
      );
    }
    const picked = pickRunner(live, workspace);
    if ('reason' in picked) return waitFor(picked.reason);
    // Held before it is opened: a crash in between must not leave a workspace that nobody closes.
    await this.runners.hold(row.teamId, workspace.id, row.id, picked.runner);
    try {
      const opened = await this.bus.request(
        routes.workspaceOpen,
        {
          taskId: row.id,
          workspaceId: workspace.id,
          directory: workspace.directory,
          gitUrl: workspace.gitUrl,
          gitRef: workspace.gitRef,
          mode: workspace.mode,
          resume: workspace.runner !== '',
        },
        { team: row.teamId, key: picked.runner, signal },
      );
      const mode = opened.mode || workspace.mode;
      return {
        ...nothing,
        row: { pending: task.Pending.STEP, memory: { ...row.memory, workspace: 'open' } },
        details: {
          rules: opened.rules,
          workspace: {
            ...workspace,
            mode,
            runner: picked.runner,
            path: opened.path,
            baseCommit: opened.baseCommit,
            sandboxed: opened.sandboxed,
          },
        },
        events: [
          {
            kind: 'workspace_opened',
            data: {
              runner: picked.runner,
              path: opened.path,
              mode,
              sandboxed: opened.sandboxed,
              sandboxReason: opened.sandboxReason,
            },
          },
        ],
      };
    } catch (thrown) {
      const error = NightshiftError.from(thrown);
      if (signal.aborted) throw error;
      // CANCELLED, though nobody here cancelled: the runner is about to end, another one (or its successor) opens it.
      if (error.retryable || error.code === 'CANCELLED')
        return waitFor(`the workspace could not be opened yet: ${error.message}`);
      return {
        ...nothing,
        row: {
          state: task.TaskState.FAILED,
          pending: task.Pending.NONE,
          reason: `the workspace could not be opened: ${error.message}`,
        },
      };
    }
  }
}

function waitFor(reason: string, dueInMs = noRunnerWaitMs): Outcome {
  return { ...nothing, row: { state: task.TaskState.WAITING, pending: task.Pending.TIMER, reason, dueInMs } };
}
