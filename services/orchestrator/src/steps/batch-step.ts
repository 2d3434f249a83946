import { create } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { previewCharsFor } from '@nightshift/compaction';
import { isNightshiftError, routes, task, transcript } from '@nightshift/contracts';
import type { toolresult } from '@nightshift/contracts';
import { isOpen, pendingOf, planBatch } from '../outcomes/batch';
import type { BatchCall, BatchPlan } from '../outcomes/batch';
import { textResult } from '../outcomes/calls';
import { closeBatch, closedCall } from '../outcomes/close-batch';
import { both, nothing } from '../tasks/outcome';
import type { ClosedCall, EventDraft, Outcome } from '../tasks/outcome';
import type { TaskDetails } from '../tasks/task-details';
import type { TaskRow } from '../tasks/task-row';
import type { LedgerCall } from '../tools/call.store';
import { parseArguments } from '../tools/catalogue';
import { restoredText } from '../tools/restored-text';
import { SourceNow } from '../tools/source-now';
import { spilledResult } from '../tools/spill';
import type { StateToolArguments, StateToolName } from '../tools/state-tool-table';
import { runStateTool } from '../tools/state-tools';
import type { StateToolAnswer } from '../tools/state-tools';
import { resultBounds } from './context';
import { estimate } from '../outcomes/estimate';
import type { Prepared } from './prepared';

/** Goes on with an open batch inside a step: state tools, the next wave, spilling, closing. */
@Injectable()
export class BatchStep {
  constructor(
    private readonly bus: Bus,
    private readonly sources: SourceNow,
  ) {}

  async perform(row: TaskRow, prepared: Prepared, calls: readonly LedgerCall[], plan: BatchPlan): Promise<Outcome> {
    const { batch } = row.memory;
    switch (plan.kind) {
      case 'wait':
        return { ...nothing, row: { pending: pendingOf(plan) } };
      case 'dispatch':
        return {
          ...nothing,
          row: { pending: pendingOf(plan), memory: { ...row.memory, batch: batch && { ...batch, wave: plan.wave } } },
        };
      case 'state':
        return this.stateTools(row, prepared.details, calls, plan.calls);
      case 'close':
        return closeBatch(this.given(row, calls), plan.results);
      case 'spill':
        return closeBatch(this.given(row, calls), await this.spill(row, plan.results, plan.callIds));
    }
  }

  private given(row: TaskRow, calls: readonly LedgerCall[]): Parameters<typeof closeBatch>[0] {
    return {
      row,
      calls,
      batchBudget: resultBounds(row).batch,
      changes: new Map(calls.map(({ callId, changes }) => [callId, changes])),
      estimate,
    };
  }

  /** Runs the state tools of one wave in order; each sees what the ones before it changed. */
  private async stateTools(
    row: TaskRow,
    before: TaskDetails,
    all: readonly LedgerCall[],
    calls: readonly BatchCall[],
  ): Promise<Outcome> {
    let details: TaskDetails = before;
    let changed: Outcome['details'];
    const closedCalls: ClosedCall[] = [];
    const events: EventDraft[] = [];
    const counted: Outcome['counted'][number][] = [];
    let change: Outcome['row'] = {};
    for (const call of calls) {
      const answer = this.answer(details, call, change);
      const result = answer.restores ? await this.restore(row, call, answer.restores, before.workspace) : resultOf(call, answer);
      if (answer.details) {
        details = { ...details, ...answer.details };
        changed = { ...changed, ...answer.details };
        events.push({ kind: eventOf[call.tool as StateToolName], data: { ...answer.details } });
      }
      if (answer.restores) events.push({ kind: 'restored', data: { ...answer.restores, failed: result.isError } });
      if (answer.waits)
        change = { state: task.TaskState.WAITING, pending: task.Pending.USER, reason: 'waiting for an answer of the user' };
      if (answer.finishes) change = { state: task.TaskState.COMPLETED, pending: task.Pending.NONE, reason: '' };
      const closed = closedCall(call, result, 0);
      events.push(...closed.events);
      counted.push(...closed.counted);
      closedCalls.push({ callId: call.callId, state: result.isError ? 'failed' : 'finished', result });
    }
    const ends = change.state !== undefined;
    if (ends) closedCalls.push(...all.filter((call) => isOpen(call) && !calls.includes(call)).map(notRun));
    const own = { ...nothing, row: { pending: task.Pending.STEP, ...change }, details: changed, closedCalls, events, counted };
    const closed = all.map((call) => ({ ...call, ...closedCalls.find(({ callId }) => callId === call.callId) }));
    const given = this.given(row, closed);
    const plan = planBatch(closed, row.memory.batch?.wave ?? -1, ends ? Infinity : given.batchBudget);
    return plan.kind === 'close' ? both(closeBatch(given, plan.results), own) : own;
  }

  private answer(details: TaskDetails, call: BatchCall, change: Outcome['row']): StateToolAnswer {
    if (change.state !== undefined) return { text: notRunText, isError: true };
    const parsed = parseArguments(call.tool, call.argumentsJson);
    if (!parsed.ok) return { text: parsed.fault, isError: true };
    return runStateTool(details, call.tool as StateToolName, parsed.value);
  }

  private async restore(
    row: TaskRow,
    call: BatchCall,
    asked: StateToolArguments<'restore_tool_result'>,
    workspace: TaskDetails['workspace'],
  ): Promise<transcript.ToolResult> {
    const bounds = resultBounds(row);
    try {
      const reply: toolresult.RestoreReply = await this.bus.request(
        routes.toolresultRestore,
        { rootId: row.rootId, ...asked, maxChars: bounds.read },
        { team: row.teamId },
      );
      const said = textResult(
        call,
        restoredText(asked, reply, await this.sources.of(row.teamId, workspace, reply)),
        transcript.ToolOutcome.FINISHED,
      );
      if (reply.data.length > 0)
        return create(transcript.ToolResultSchema, { ...said, parts: [...said.parts, imagePart(reply.mediaType, reply.data)] });
      return said;
    } catch (error) {
      if (!isNightshiftError(error) || error.retryable) throw error;
      return textResult(call, `Not restored: ${error.text}`, transcript.ToolOutcome.FAILED);
    }
  }

  /** Stores the named results whole and leaves previews. Repeating it stores the same records. */
  private async spill(
    row: TaskRow,
    results: readonly transcript.ToolResult[],
    ids: readonly string[],
  ): Promise<readonly transcript.ToolResult[]> {
    const { batch } = resultBounds(row);
    return Promise.all(
      results.map(async (result) => {
        if (!ids.includes(result.callId)) return result;
        const text = result.parts.flatMap(({ kind }) => (kind.case === 'text' ? [kind.value] : [])).join('');
        const content = new TextEncoder().encode(text);
        const stored = await this.bus.request(
          routes.toolresultPut,
          { rootId: row.rootId, taskId: row.id, tool: result.tool, content, mediaType: 'text/plain', callId: result.callId },
          { team: row.teamId },
        );
        return spilledResult(result, text, stored, previewCharsFor(ids.length, batch));
      }),
    );
  }
}

const notRunText = 'Not run: an earlier call of the same turn ended the turn.';

function notRun(call: BatchCall): ClosedCall {
  return { callId: call.callId, state: 'cancelled', result: textResult(call, notRunText, transcript.ToolOutcome.CANCELLED) };
}

const eventOf: Record<StateToolName, string> = {
  update_plan: 'plan_updated',
  set_goal: 'goal_updated',
  mark_criterion: 'criterion_marked',
  ask_user: 'question_asked',
  restore_tool_result: 'restored',
  finish: 'finished',
};

function imagePart(mediaType: string, data: Uint8Array): transcript.Part {
  return create(transcript.PartSchema, { kind: { case: 'image', value: { mediaType, data } } });
}

function resultOf(call: BatchCall, answer: StateToolAnswer): transcript.ToolResult {
  return textResult(call, answer.text, answer.isError ? transcript.ToolOutcome.FAILED : transcript.ToolOutcome.FINISHED);
}
