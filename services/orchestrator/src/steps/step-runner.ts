import { Inject, Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { crashPoint } from '@nightshift/config';
import { NightshiftError, task } from '@nightshift/contracts';
import { confirmTokens, imageTokens } from '@nightshift/compaction';
import { Logger, Metrics, withSpan } from '@nightshift/metrics';
import { WindowReader } from '@nightshift/windows';
import { v7 } from 'uuid';
import { StopTask } from '../cancel/stop-task';
import { decideNext } from '../decide/decide';
import type { DecideState, Plan } from '../decide/decide';
import { Inbox } from '../inbox/inbox';
import { paused } from '../outcomes/answer';
import { startPass } from '../outcomes/start-pass';
import { OpenWorkspace } from '../runners/open-workspace';
import { Committed } from '../tasks/committed';
import { both, count, nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { WORKER } from '../tasks/worker';
import type { Worker } from '../tasks/worker';
import { CallStore } from '../tools/call.store';
import { BatchStep } from './batch-step';
import { candidateOf, contextOf, resultBounds } from './context';
import type { Context } from './context';
import { ModelCall } from './model-call';
import { PreparedTasks } from './prepared';
import type { Prepared } from './prepared';

/** Attempts of one step without a recorded outcome after which the task pauses. */
const attemptLimit = 5;

/** Decide, perform, record; again while the next thing to do is a step of this task. */
@Injectable()
export class StepRunner {
  /** Steps this process works on: a redelivery to the same process must not work beside itself. */
  private readonly active = new Set<string>();

  constructor(
    @Inject(WORKER) private readonly worker: Worker,
    private readonly bus: Bus,
    private readonly tasks: TaskStore,
    private readonly calls: CallStore,
    private readonly prepared: PreparedTasks,
    private readonly windows: WindowReader,
    private readonly model: ModelCall,
    private readonly batches: BatchStep,
    private readonly inbox: Inbox,
    private readonly workspaces: OpenWorkspace,
    private readonly stopTask: StopTask,
    private readonly committed: Committed,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /**
   * Works on a task as long as its next step is due, if it still is at this epoch.
   * @param signal shutdown: the step under way goes back at once
   */
  async run(team: string, id: string, epoch: number, signal: AbortSignal): Promise<void> {
    const key = `${team}/${id}/${epoch}`;
    if (this.active.has(key)) return;
    this.active.add(key);
    try {
      const leased = await this.tasks.lease(team, id, epoch);
      crashPoint('orchestrator.leased');
      if (leased) await this.loop(leased, signal);
      else this.metrics.counter('task_fenced').inc();
    } finally {
      this.active.delete(key);
    }
  }

  /** Whether this process may go on with a task right after a commit, instead of publishing a step for anybody. */
  get hasRoom(): boolean {
    return this.active.size < this.worker.stepSlots && !this.bus.drain.begun.aborted;
  }

  /**
   * Goes on with a task whose lease was taken by the outcome just recorded. Saves a round through the queue per batch of
   * tool calls; if this process dies, its lease ends and the sweeper publishes the step.
   */
  goOn(row: TaskRow): void {
    const key = `${row.teamId}/${row.id}/${row.epoch}`;
    this.active.add(key);
    const work = this.loop(row, this.bus.drain.over)
      .catch((error: unknown) =>
        this.logger.warn({ error, task: row.id, team: row.teamId }, 'a step failed: the sweeper wakes the task'),
      )
      .finally(() => this.active.delete(key));
    this.bus.drain.hold(work);
  }

  private async loop(first: TaskRow, signal: AbortSignal): Promise<void> {
    // Child spans are the model calls and tool calls of this stretch of the task.
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'nightshift',
      'gen_ai.conversation.id': first.id,
    };
    await withSpan('invoke_agent nightshift', attributes, async () => {
      let row: TaskRow | undefined = first;
      while (row) row = await this.step(row, signal);
    });
  }

  /** One step. @returns the row to go on with, or undefined when the task is parked, ended or no longer ours */
  private async step(row: TaskRow, signal: AbortSignal): Promise<TaskRow | undefined> {
    const began = performance.now();
    let elsewhere = 0;
    const waited = (ms: number): void => {
      elsewhere += ms;
    };
    try {
      if (row.stepAttempts > attemptLimit) {
        const reason = `the task made no progress in ${attemptLimit} attempts; see the logs of the orchestrator`;
        return await this.record(row, { ...nothing, row: paused(reason) }, signal);
      }
      const prepared = await this.prepared.of(row);
      const calls = row.memory.batch ? await this.calls.batch(row.teamId, row.id, row.memory.batch.seq) : [];
      const measured = await this.measured(row, prepared);
      const state: DecideState = {
        row: measured.row,
        calls,
        batchBudget: resultBounds(row).batch,
        context: measured.context.figures,
      };
      const plan = await this.decide(state, prepared);
      this.metrics.counter('task_steps').inc({ action: actions[plan.kind] });
      if (plan.kind === 'none') {
        await this.tasks.release(row, false);
        return undefined;
      }
      if (plan.kind === 'deliver') return await this.inbox.deliver(running(measured.row));
      if (plan.kind === 'stop') {
        await this.stopTask.run(row, prepared.details, signal);
        return undefined;
      }
      const outcome =
        plan.kind === 'batch'
          ? await this.batches.perform(running(measured.row), prepared, calls, plan.batch)
          : await this.perform(running(measured.row), prepared, measured.context, plan, signal, waited);
      const next = await this.record(measured.row, outcome, signal);
      this.metrics.histogram('task_step_duration_seconds').observe({}, (performance.now() - began - elsewhere) / 1_000);
      return next;
    } catch (thrown) {
      const error = NightshiftError.from(thrown);
      // What counts as a failed attempt stays counted: after five the task pauses instead of looping for ever.
      const counted = !signal.aborted && error.code === 'INTERNAL';
      await this.tasks.release(row, counted).catch((fault: unknown) => {
        this.logger.warn({ error: fault, task: row.id }, 'a lease was not given back: it ends by itself');
      });
      throw error;
    }
  }

  private async decide(state: DecideState, prepared: Prepared): Promise<Plan> {
    const plan = decideNext(state);
    if (plan.kind !== 'confirm') return plan;
    const { texts, images } = await this.model.texts(state.row, prepared);
    const confirmed = (await confirmTokens(texts)) + images * imageTokens;
    return decideNext({ ...state, context: { ...state.context, confirmed } });
  }

  /** The row with sums of its own generation, and its sizes against the model in use. The window is read afresh each time. */
  private async measured(row: TaskRow, prepared: Prepared): Promise<{ row: TaskRow; context: Context }> {
    const { memory, generation, lastSeq } = row;
    let current = row;
    // Without entries (before the first record) the sums are right by themselves.
    if (memory.sums.generation !== generation) {
      const estimate = await this.model.viewEstimate(row, prepared);
      current = { ...row, memory: { ...memory, sums: { generation, through: lastSeq, estimate } } };
    }
    const candidate = candidateOf(current, prepared);
    const window = this.windows.get(candidate.provider, candidate.endpoint, candidate.model, row.teamId);
    const context = contextOf(current, prepared, candidate, window);
    if (current.memory.undoneAt >= 0) return { row: current, context };
    // The size that an undo brought back is known only now.
    return { row: { ...current, memory: { ...current.memory, undoneAt: context.figures.measured } }, context };
  }

  private async perform(
    row: TaskRow,
    prepared: Prepared,
    context: Context,
    plan: Exclude<Plan, { kind: 'none' | 'deliver' | 'stop' | 'batch' }>,
    signal: AbortSignal,
    waited: (ms: number) => void,
  ): Promise<Outcome> {
    switch (plan.kind) {
      case 'pause':
        return { ...nothing, row: { ...paused(plan.reason), pauseRequested: false } };
      case 'fail':
        // There is one reason to fail a task outright: nothing that could be dropped would make it fit.
        return {
          ...nothing,
          row: { state: task.TaskState.FAILED, pending: task.Pending.NONE, reason: plan.reason },
          counted: [count('compaction_irreducible', {})],
        };
      case 'open_workspace':
        return this.workspaces.perform(row, prepared.details, signal);
      case 'compact':
        return startPass(row, v7(), plan.reason, context.shown);
      case 'complete': {
        const over = context.figures.measured > context.figures.effective;
        const measured = { ...row, memory: { ...row.memory, figures: context.shown, over: row.memory.over && over } };
        return this.model.perform(measured, prepared, context, plan.notes, signal, waited);
      }
      case 'confirm':
        throw new NightshiftError('INTERNAL', 'the tokenizer was asked twice');
    }
  }

  /** A process that is asked to end keeps no task: the step under way is recorded, and the next one is published for another. */
  private async record(row: TaskRow, outcome: Outcome, signal: AbortSignal): Promise<TaskRow | undefined> {
    const base: Outcome = { ...nothing, row: { state: task.TaskState.RUNNING, reason: '', memory: row.memory } };
    return this.committed.record(both(base, outcome), {
      row,
      leased: true,
      keep: !signal.aborted && !this.bus.drain.begun.aborted,
      now: Date.now(),
    });
  }
}

/** A task that waited runs again; what it becomes is up to the outcome. */
function running(row: TaskRow): TaskRow {
  return { ...row, state: task.TaskState.RUNNING, reason: '' };
}

const actions = {
  none: 'none',
  stop: 'cancel',
  pause: 'finish',
  fail: 'finish',
  open_workspace: 'wait',
  batch: 'tools',
  deliver: 'wait',
  confirm: 'none',
  compact: 'compact',
  complete: 'complete',
} as const satisfies Record<Plan['kind'], string>;
