import { create } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { crashPoint } from '@nightshift/config';
import { task, tool, transcript } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import { Metrics } from '@nightshift/metrics';
import { EventStore } from '../events/event.store';
import { textResult } from '../outcomes/calls';
import { callStateOf, closedCall, foldBatch } from '../outcomes/close-batch';
import { resultBounds } from '../steps/context';
import { estimate } from '../outcomes/estimate';
import { StepRunner } from '../steps/step-runner';
import { Wakes } from '../steps/wakes';
import { Committed, ended } from '../tasks/committed';
import { both, nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { Recorded } from '../tasks/record.store';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { CallStore } from './call.store';
import type { Closing, LedgerCall } from './call.store';
import { closingValues } from './closing-values';
import { FileStore } from './file.store';
import { ParkedCalls } from './parked-calls';

interface Done {
  readonly outcome: Pick<Outcome, 'counted'>;
  readonly recorded?: Recorded;
  readonly row: TaskRow;
  readonly calls?: readonly LedgerCall[];
}

/**
 * Records the result of one tool call under the row lock. Parallel results queue up for the lock; the first terminal
 * result of a call wins; whether the batch is complete is decided here. Nothing is ever handed back to the queue for a
 * lost race: with compare-and-set instead of the lock, 16 parallel results dead-lettered each other.
 */
@Injectable()
export class FinishCall {
  constructor(
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly calls: CallStore,
    private readonly files: FileStore,
    private readonly events: EventStore,
    private readonly committed: Committed,
    private readonly wakes: Wakes,
    private readonly steps: StepRunner,
    private readonly parked: ParkedCalls,
    private readonly metrics: Metrics,
  ) {}

  async finish(team: string, finished: tool.Finished): Promise<void> {
    const goesOn = this.steps.hasRoom;
    const done = (await this.finishParked(team, finished, goesOn)) ?? (await this.finishLocked(team, finished, goesOn));
    if (!done) {
      this.metrics.counter('task_fenced').inc();
      return;
    }
    if (done.recorded) {
      const { recorded } = done;
      const held = goesOn && recorded.row.pending === task.Pending.STEP;
      await this.committed.after(done.outcome, recorded, held, done.calls);
      if (held) this.steps.goOn(recorded.row);
      return;
    }
    this.committed.count(done.outcome.counted);
    this.wakes.changed(done.row);
  }

  /**
   * The common case: the task waits for this call alone, and this process parked it. Closing that call raises the epoch
   * whoever does it, so the compare-and-set of the record also makes the first terminal result win.
   */
  private async finishParked(team: string, finished: tool.Finished, goesOn: boolean): Promise<Done | undefined> {
    const parked = this.parked.take(team, finished.taskId, finished.callId);
    if (!parked) return undefined;
    const { row, call } = parked;
    const closing = closingOf(resultOf(call, finished), finished);
    const folded = foldBatch({
      row,
      calls: [{ ...call, state: closing.state, result: closing.result }],
      batchBudget: resultBounds(row).batch,
      changes: new Map([[call.callId, closing.changes]]),
      estimate,
    });
    if (!folded) return undefined;
    const outcome = both({ ...nothing, ...closedCall(call, closing.result, finished.ms) }, folded);
    crashPoint('orchestrator.call_closed');
    const recorded = await this.committed.recordClosing(row, outcome, closingValues(call.callId, closing, finished), goesOn);
    return recorded && { outcome, recorded, row: recorded.row };
  }

  private async finishLocked(team: string, finished: tool.Finished, goesOn: boolean): Promise<Done | undefined> {
    // Read before the transaction: a second connection inside of it could wait for ever for a full pool.
    const known = await this.calls.find(team, finished.taskId, finished.callId);
    if (!known) return undefined;
    return transaction(this.pool, async (client): Promise<Done | undefined> => {
      const row = await this.tasks.lock(client, team, finished.taskId);
      if (!row) return undefined;
      const closing = closingOf(resultOf(known, finished), finished);
      const calls = await this.calls.close(client, team, row.id, known, closing);
      if (!calls) return undefined;
      await this.files.note(client, team, row.id, finished);
      crashPoint('orchestrator.call_closed');
      const closed = closedCall(known, closing.result, finished.ms);
      const batch = row.memory.batch;
      // A task that has ended takes no more events; the ledger keeps what really happened.
      if (!batch || batch.seq !== known.entrySeq || ended(row.state)) return { outcome: closed, row };
      const folded = foldBatch({
        row,
        calls,
        batchBudget: resultBounds(row).batch,
        changes: new Map(calls.map((call) => [call.callId, call.changes])),
        estimate,
      });
      if (!folded) {
        const lastEventSeq = await this.events.append(row, closed.events, client);
        return { outcome: closed, row: { ...row, lastEventSeq } };
      }
      const outcome = both({ ...nothing, ...closed }, folded);
      const recorded = await this.committed.recordLocked(client, row, outcome, goesOn);
      return { outcome, recorded, row: recorded?.row ?? row, calls };
    });
  }
}

function closingOf(result: transcript.ToolResult, { ms, runner, changes }: tool.Finished): Closing {
  return {
    state: callStateOf(result),
    result,
    ms,
    runner,
    changes: changes.map(({ path, beforeSha256, afterSha256 }) => ({ path, before: beforeSha256, after: afterSha256 })),
  };
}

/** The result under the ids of our ledger, whatever the runner sent. */
function resultOf(
  call: { readonly callId: string; readonly providerId: string; readonly tool: string },
  finished: tool.Finished,
): transcript.ToolResult {
  if (!finished.result) return textResult(call, 'The runner sent no result.', transcript.ToolOutcome.UNKNOWN);
  return create(transcript.ToolResultSchema, {
    ...finished.result,
    callId: call.callId,
    providerId: call.providerId,
    tool: call.tool,
  });
}
