import { create, fromBinary } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { compaction, deadletter, routes, task, tool, transcript } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import { FinishPass } from '../compaction/finish-pass';
import { paused } from '../outcomes/answer';
import { textResult } from '../outcomes/calls';
import { Committed, ended } from '../tasks/committed';
import { nothing } from '../tasks/outcome';
import { TaskStore } from '../tasks/task.store';
import { CallStore } from '../tools/call.store';
import { FinishCall } from '../tools/finish-call';

/** Lets a task go on (or stop where a person looks) whose message could not be handled: nothing may hang on a dead letter. */
@Injectable()
export class Unpark {
  constructor(
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly calls: CallStore,
    private readonly passes: FinishPass,
    private readonly finishes: FinishCall,
    private readonly committed: Committed,
  ) {}

  /** The task a message is about; empty for a message of another kind or one that does not decode. */
  taskOf(letter: Pick<deadletter.PutRequest, 'route' | 'body'>): string {
    try {
      switch (letter.route) {
        case routes.taskStep.name:
          return fromBinary(task.StepSchema, letter.body).taskId;
        case routes.toolRun.name:
          return fromBinary(tool.RunSchema, letter.body).taskId;
        case routes.toolFinished.name:
          return fromBinary(tool.FinishedSchema, letter.body).taskId;
        case routes.compactionRun.name:
          return fromBinary(compaction.RunRequestSchema, letter.body).taskId;
        case routes.compactionFinished.name:
          return fromBinary(compaction.FinishedSchema, letter.body).taskId;
        default:
          return '';
      }
    } catch {
      // A poison message is the usual reason for a dead letter; it is kept whole, and the sweeper wakes its task.
      return '';
    }
  }

  async run(team: string, letter: deadletter.PutRequest): Promise<void> {
    if (this.taskOf(letter) === '') return;
    switch (letter.route) {
      case routes.taskStep.name:
        return this.pause(team, fromBinary(task.StepSchema, letter.body), letter.reason);
      case routes.toolRun.name: {
        const { taskId, callId } = fromBinary(tool.RunSchema, letter.body);
        return this.unknown(team, taskId, callId, letter.reason);
      }
      case routes.toolFinished.name: {
        const { taskId, callId } = fromBinary(tool.FinishedSchema, letter.body);
        return this.unknown(team, taskId, callId, letter.reason);
      }
      case routes.compactionRun.name: {
        const { taskId, passId, generation } = fromBinary(compaction.RunRequestSchema, letter.body);
        return this.failPass(team, taskId, passId, generation, letter.reason);
      }
      case routes.compactionFinished.name: {
        const { taskId, passId, basedOnGeneration } = fromBinary(compaction.FinishedSchema, letter.body);
        return this.failPass(team, taskId, passId, basedOnGeneration, letter.reason);
      }
    }
  }

  private async pause(team: string, step: task.Step, reason: string): Promise<void> {
    const recorded = await transaction(this.pool, async (client) => {
      const row = await this.tasks.lock(client, team, step.taskId);
      if (!row || row.epoch !== step.epoch || ended(row.state) || row.state === task.TaskState.CANCELLING) return undefined;
      return this.committed.recordLocked(client, row, { ...nothing, row: paused(`its step could not be handled: ${reason}`) });
    });
    if (recorded) await this.committed.after(nothing, recorded);
  }

  private async unknown(team: string, taskId: string, callId: string, reason: string): Promise<void> {
    const call = await this.calls.find(team, taskId, callId);
    if (!call) return;
    const text = `The outcome is unknown: the call could not be handled (${reason}). It may or may not have taken effect. Check the state before you repeat it.`;
    const result = textResult(call, text, transcript.ToolOutcome.UNKNOWN);
    await this.finishes.finish(team, create(tool.FinishedSchema, { taskId, callId, result }));
  }

  private failPass(team: string, taskId: string, passId: string, generation: number, reason: string): Promise<void> {
    const outcome = compaction.PassOutcome.FAILED;
    return this.passes.finish(
      team,
      create(compaction.FinishedSchema, {
        taskId,
        passId,
        basedOnGeneration: generation,
        outcome,
        reason: `dead letter: ${reason}`,
      }),
    );
  }
}
