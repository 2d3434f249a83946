import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { crashPoint } from '@nightshift/config';
import { routes, task } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import { isOpen } from '../outcomes/batch';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { CallStore } from '../tools/call.store';
import { PreparedTasks } from './prepared';

/**
 * Publishes what an outcome made due, after its commit. Best effort: Postgres says what is due, and the sweeper of any
 * replica publishes it again when this one dies or NATS is away.
 */
@Injectable()
export class Wakes {
  constructor(
    private readonly bus: Bus,
    private readonly tasks: TaskStore,
    private readonly calls: CallStore,
    private readonly prepared: PreparedTasks,
    private readonly logger: Logger,
  ) {}

  /** @param held the recording process goes on with the task itself: no step is published */
  async after(row: TaskRow, held = false): Promise<void> {
    crashPoint('orchestrator.recorded');
    this.changed(row);
    try {
      if (row.pending === task.Pending.STEP && !held) await this.step(row);
      if (row.pending === task.Pending.TIMER) this.later(row);
      if (row.pending === task.Pending.TOOLS) await this.tools(row);
      if (row.pending === task.Pending.COMPACTION) await this.compaction(row);
    } catch (error) {
      this.logger.warn({ error, task: row.id, team: row.teamId }, 'a wake-up was not published: the sweeper will');
    }
  }

  /** Tells readers that there is something new. */
  changed(row: TaskRow): void {
    const message = { taskId: row.id, lastEventSeq: row.lastEventSeq, state: row.state };
    this.bus
      .event(routes.taskChanged, message, { team: row.teamId, messageId: `${row.id}:changed:${row.lastEventSeq}` })
      // Readers query again by themselves every 10 s.
      .catch((error: unknown) => this.logger.debug({ error, task: row.id }, 'readers were not told'));
  }

  /** Saves the sweeper's two seconds; a timer that dies with the process is the sweeper's. */
  private later(row: TaskRow): void {
    const ms = (row.dueAt ?? row.updatedAt) - row.updatedAt + 5;
    if (ms > 10_000) return;
    const timer = setTimeout(() => {
      this.step(row).catch((error: unknown) => this.logger.debug({ error, task: row.id }, 'a timer was not published'));
    }, ms);
    timer.unref();
  }

  step(row: TaskRow): Promise<void> {
    return this.bus.command(
      routes.taskStep,
      { taskId: row.id, epoch: row.epoch },
      { team: row.teamId, messageId: `${row.id}:${row.epoch}:${row.publishCount}` },
    );
  }

  /** @param again a later publishing of the same calls: each gets a fresh message id, or the server would drop it */
  async tools(row: TaskRow, again = false): Promise<void> {
    const { batch } = row.memory;
    const { workspace } = (await this.prepared.of(row)).details;
    if (!batch || !workspace) return;
    const calls = await this.calls.batch(row.teamId, row.id, batch.seq);
    const due = calls.filter((call) => call.place === 'runner' && call.wave === batch.wave && call.state === 'intended');
    const numbers = again
      ? await this.calls.published(
          row.teamId,
          row.id,
          due.map(({ callId }) => callId),
        )
      : undefined;
    await Promise.all(
      due
        .filter(isOpen)
        .map(({ callId, tool }) =>
          this.bus.command(
            routes.toolRun,
            { taskId: row.id, callId, workspaceId: workspace.id, tool, epoch: row.epoch },
            { team: row.teamId, key: workspace.runner, messageId: `${callId}:${numbers?.get(callId) ?? 0}` },
          ),
        ),
    );
  }

  async compaction(row: TaskRow): Promise<void> {
    const { pass } = row.memory;
    if (!row.passId || !pass) return;
    const { details } = await this.prepared.of(row);
    const target = details.chain[row.chainPosition] ?? details.chain[0];
    await this.bus.command(
      routes.compactionRun,
      {
        taskId: row.id,
        passId: row.passId,
        generation: row.generation,
        epoch: row.epoch,
        reason: pass.reason,
        targetProvider: target?.provider ?? '',
        targetModel: target?.model ?? '',
      },
      { team: row.teamId, messageId: `${row.passId}:${row.publishCount}` },
    );
  }
}
