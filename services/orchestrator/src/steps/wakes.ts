import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { crashPoint } from '@nightshift/config';
import { fromMs, routes, task } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import type { CallDraft } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';
import { CallStore } from '../tools/call.store';
import { PreparedTasks } from './prepared';

/** What publishing a call needs to know of it. */
export type DueCall = Pick<CallDraft, 'callId' | 'tool' | 'place' | 'wave' | 'state'>;

/** A turn changes a task three to five times within this time; a person sees no difference. */
const coalesceMs = 100;

/**
 * Publishes what an outcome made due, after its commit. Best effort: Postgres says what is due, and the sweeper of any
 * replica publishes it again when this one dies or NATS is away.
 */
@Injectable()
export class Wakes {
  private readonly telling = new Map<string, { row: TaskRow }>();

  constructor(
    private readonly bus: Bus,
    private readonly calls: CallStore,
    private readonly prepared: PreparedTasks,
    private readonly logger: Logger,
  ) {}

  /**
   * @param held the recording process goes on with the task itself: no step is published
   * @param calls of the open batch, where the caller has them at hand
   */
  async after(row: TaskRow, held = false, calls: readonly DueCall[] = []): Promise<void> {
    crashPoint('orchestrator.recorded');
    this.changed(row);
    try {
      if (row.pending === task.Pending.STEP && !held) await this.step(row);
      if (row.pending === task.Pending.TIMER) this.later(row);
      if (row.pending === task.Pending.TOOLS) await this.tools(row, calls.length > 0 ? calls : await this.batch(row));
      if (row.pending === task.Pending.COMPACTION) await this.compaction(row);
      if (row.endedAt !== undefined && row.rootId === row.id) await this.rootEnded(row);
    } catch (error) {
      this.logger.warn({ error, task: row.id, team: row.teamId }, 'a wake-up was not published: the sweeper will');
    }
  }

  /**
   * Tells readers that there is something new: at most every 100 ms, with the latest number. Readers query, so one message stands for all before it.
   */
  changed(row: TaskRow): void {
    const key = `${row.teamId}/${row.id}`;
    const waiting = this.telling.get(key);
    if (waiting) {
      if (row.lastEventSeq > waiting.row.lastEventSeq) waiting.row = row;
      return;
    }
    const told = { row };
    this.telling.set(key, told);
    const tell = (): void => {
      this.telling.delete(key);
      this.tell(told.row);
    };
    setTimeout(tell, coalesceMs).unref();
  }

  private tell(row: TaskRow): void {
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

  /** Publishes the calls of the current wave again, each under a fresh message id, or the server would drop it. */
  async toolsAgain(row: TaskRow): Promise<void> {
    const due = dueCalls(row, await this.batch(row));
    const ids = due.map(({ callId }) => callId);
    await this.tools(row, due, await this.calls.published(row.teamId, row.id, ids));
  }

  private async tools(row: TaskRow, calls: readonly DueCall[], numbers?: ReadonlyMap<string, number>): Promise<void> {
    const { workspace } = (await this.prepared.of(row)).details;
    if (!workspace) return;
    await Promise.all(
      dueCalls(row, calls).map(({ callId, tool }) =>
        this.bus.command(
          routes.toolRun,
          { taskId: row.id, callId, workspaceId: workspace.id, tool, epoch: row.epoch },
          { team: row.teamId, key: workspace.runner, messageId: `${callId}:${numbers?.get(callId) ?? 0}` },
        ),
      ),
    );
  }

  private async batch(row: TaskRow): Promise<readonly DueCall[]> {
    const { batch } = row.memory;
    return batch ? this.calls.batch(row.teamId, row.id, batch.seq) : [];
  }

  /** The results of a root task may be collected after the team's limits from now on. */
  private rootEnded(row: TaskRow): Promise<void> {
    const message = { rootId: row.id, atMs: fromMs(row.endedAt ?? row.updatedAt) };
    return this.bus.command(routes.toolresultRootEnded, message, { team: row.teamId, messageId: `${row.id}:ended` });
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

function dueCalls(row: TaskRow, calls: readonly DueCall[]): readonly DueCall[] {
  return calls.filter((call) => call.place === 'runner' && call.wave === row.memory.batch?.wave && call.state === 'intended');
}
