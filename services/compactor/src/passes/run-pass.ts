import { setMaxListeners } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import type { BusContext } from '@nightshift/bus';
import { runLadder } from '@nightshift/compaction';
import { crashPoint } from '@nightshift/config';
import type { CandidateName } from '@nightshift/config';
import { compaction, NightshiftError, routes } from '@nightshift/contracts';
import { Logger, Metrics } from '@nightshift/metrics';
import { StoppedTasks } from '../stop/stopped-tasks';
import { finishedOf } from './finished';
import { inputOf } from './ladder-input';
import { ModelCalls } from './model-calls';
import { ResultStore } from './result-store';
import { Transcripts } from './transcripts';
import { Windows } from './windows';

export interface PassSettings {
  readonly budgetMs: number;
  readonly worker: string;
  /** The small local model of the on_device tier. */
  readonly onDevice: CandidateName | undefined;
}
export const PASS_SETTINGS = Symbol('pass settings');

/**
 * One pass: claim, read, run the ladder, tell the orchestrator. It commits nothing itself and keeps nothing, so a second
 * run of the same message repeats nothing visible: records have derived names, and the orchestrator takes one result.
 */
@Injectable()
export class RunPass {
  constructor(
    private readonly bus: Bus,
    private readonly transcripts: Transcripts,
    private readonly windows: Windows,
    private readonly models: ModelCalls,
    private readonly stops: StoppedTasks,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
    @Inject(PASS_SETTINGS) private readonly settings: PassSettings,
  ) {}

  async run(request: compaction.RunRequest, ctx: BusContext): Promise<void> {
    const stop = this.stops.begin(ctx.team, request.taskId);
    this.metrics.gauge('compaction_running').inc();
    try {
      const signal = AbortSignal.any([ctx.signal, stop.signal]);
      // Every request in flight listens: sixteen of the store, three of the gateway.
      setMaxListeners(64, signal);
      await this.claimAndRun(request, ctx, signal);
    } finally {
      this.metrics.gauge('compaction_running').inc({}, -1);
      stop.end();
    }
  }

  private async claimAndRun(request: compaction.RunRequest, ctx: BusContext, signal: AbortSignal): Promise<void> {
    const { taskId, passId } = request;
    const { team, delivery } = ctx;
    const { worker } = this.settings;
    const startedAt = performance.now();
    const claim = await this.bus.request(routes.compactionClaim, { taskId, passId, worker, delivery }, { team, signal });
    if (!claim.granted || !claim.job) {
      this.logger.info({ task: taskId, pass: passId, reason: claim.reason }, 'a pass was not ours to run');
      return;
    }
    crashPoint('compactor.claimed');
    const { job } = claim;
    const [entries, windows] = await Promise.all([
      this.transcripts.visible({ team, taskId, job, signal }),
      this.windows.of(team, job, signal),
    ]);
    const input = inputOf({ job, entries, windows, nowMs: Date.now(), budgetMs: this.settings.budgetMs });
    const store = new ResultStore(this.bus, { team, rootId: job.rootId, taskId, signal });
    const result = await runLadder(input, {
      ...this.models.ports({ team, taskId, job, signal, onDevice: this.settings.onDevice }),
      store,
      clock: () => performance.now(),
      signal,
      onTier: (tier) => crashPoint(`compactor.${tier}`),
    });
    const finished = await finishedOf({
      request,
      worker,
      target: windows.target,
      job,
      result,
      ms: Math.round(performance.now() - startedAt),
      store,
    });
    crashPoint('compactor.before_finished');
    if (signal.aborted) throw NightshiftError.from(signal.reason);
    // Named after the pass: a second run of the same pass is dropped by the server, or by the orchestrator.
    await this.bus.command(routes.compactionFinished, finished, { team, messageId: `${taskId}:${passId}:finished` });
    crashPoint('compactor.finished');
    const { outcome, before, after } = result;
    this.logger.info({ task: taskId, pass: passId, outcome: compaction.PassOutcome[outcome], before, after }, 'pass ended');
  }
}
