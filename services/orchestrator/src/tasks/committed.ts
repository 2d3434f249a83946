import { Injectable } from '@nestjs/common';
import type { PoolClient } from '@nightshift/db';
import { task } from '@nightshift/contracts';
import { Metrics } from '@nightshift/metrics';
import { Wakes } from '../steps/wakes';
import type { DueCall } from '../steps/wakes';
import { ParkedCalls } from '../tools/parked-calls';
import { EntryStore } from './entry.store';
import type { CountDraft, Outcome } from './outcome';
import { RecordStore } from './record.store';
import type { Recorded, RecordGuard } from './record.store';
import type { TaskRow } from './task-row';

/** Records outcomes, and does what may only follow a commit: counting, caching, waking. */
@Injectable()
export class Committed {
  constructor(
    private readonly store: RecordStore,
    private readonly entries: EntryStore,
    private readonly wakes: Wakes,
    private readonly parked: ParkedCalls,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Records in one statement of its own.
   * @returns the row when this process goes on with the task at once; undefined when it is parked, ended or was lost
   */
  async record(outcome: Outcome, guard: RecordGuard): Promise<TaskRow | undefined> {
    const goesOn = { ...guard.row, ...outcome.row }.pending === task.Pending.STEP;
    const keep = guard.keep === true && goesOn;
    const recorded = await this.store.record(outcome, { ...guard, keep });
    if (!recorded) {
      // Somebody else holds the task: this result is dropped.
      this.metrics.counter('task_lease_lost').inc();
      return undefined;
    }
    await this.after(outcome, recorded, keep);
    return keep ? recorded.row : undefined;
  }

  /**
   * Records inside a transaction that holds the row lock; `after` must follow its commit.
   * @param keep this process goes on with the task if a step is what comes next
   */
  recordLocked(client: PoolClient, row: TaskRow, outcome: Outcome, keep = false): Promise<Recorded | undefined> {
    const goesOn = { ...row, ...outcome.row }.pending === task.Pending.STEP;
    return this.store.record(outcome, { row, leased: false, keep: keep && goesOn, now: Date.now() }, client);
  }

  /**
   * Records in one statement what closes the only call a task waits for; `after` must follow.
   * @param closes parameters of that call, see `closingValues`
   * @returns undefined when the row has moved on since it was parked
   */
  recordClosing(row: TaskRow, outcome: Outcome, closes: readonly unknown[], keep: boolean): Promise<Recorded | undefined> {
    const goesOn = { ...row, ...outcome.row }.pending === task.Pending.STEP;
    return this.store.record(outcome, { row, leased: false, keep: keep && goesOn, now: Date.now() }, undefined, closes);
  }

  /** What follows a commit. */
  async after(
    outcome: Pick<Outcome, 'counted' | 'observed'> & Partial<Pick<Outcome, 'calls'>>,
    recorded: Recorded,
    keep = false,
    calls: readonly DueCall[] = outcome.calls ?? [],
  ): Promise<void> {
    const { row } = recorded;
    this.count(outcome.counted);
    for (const { metric, value } of outcome.observed ?? []) this.metrics.histogram(metric).observe({}, value);
    this.entries.appended(row, recorded.entries, recorded.bytes);
    this.parked.keep(row, outcome.calls ?? []);
    if (ended(row.state)) {
      this.entries.forget(row.teamId, row.id);
      const seconds = ((row.endedAt ?? row.updatedAt) - row.createdAt) / 1_000;
      this.metrics.histogram('task_duration_seconds').observe({}, seconds);
    }
    await this.wakes.after(row, keep, calls);
  }

  count(drafts: readonly CountDraft[]): void {
    for (const { metric, labels, value } of drafts) {
      // The labels were checked against this very metric where the draft was made (see `count`).
      const counter = this.metrics.counter(metric) as { inc(labels: object, by: number): void };
      counter.inc(labels, value);
    }
  }
}

export function ended(state: task.TaskState): boolean {
  return state === task.TaskState.COMPLETED || state === task.TaskState.FAILED || state === task.TaskState.CANCELLED;
}
