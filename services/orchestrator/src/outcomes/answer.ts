import { create } from '@bufbuild/protobuf';
import { compaction, llm, task, transcript } from '@nightshift/contracts';
import { count } from '../tasks/outcome';
import type { EntryDraft, EventDraft, Outcome } from '../tasks/outcome';
import type { TaskDetails } from '../tasks/task-details';
import type { Memory, TaskRow } from '../tasks/task-row';
import { planBatch, resultEntries } from './batch';
import type { BatchCall } from './batch';
import { callsOf, draftCalls, textOf, withCallIds } from './calls';

/** What the request held that was answered: the report of its usage is bound to this. */
export interface SentRequest {
  readonly generation: number;
  readonly through: number;
  readonly prefix: string;
  readonly prefixEstimate: number;
  /** Running estimate of the rendered entries, notes included. */
  readonly viewEstimate: number;
  readonly notes: readonly EntryDraft[];
  readonly offered: ReadonlySet<string>;
}

export interface AnswerGiven {
  readonly row: TaskRow;
  readonly details: Pick<TaskDetails, 'criteria' | 'chain'>;
  readonly sent: SentRequest;
  readonly reply: llm.CompleteReply;
  readonly batchBudget: number;
  readonly newId: () => string;
  readonly estimate: (body: transcript.Entry['body']) => number;
}

/** Turns in a row without a tool call before the task pauses. */
const nudgeLimit = 3;
/** After the doubled budget, this many continuations of a cut answer. */
const continuationLimit = 3;
/** Output budget to double when the provider's default was used and not told. */
const unknownOutputBudget = 8_192;

/** Folds the answer of a model into the task. Pure. */
export function foldAnswer(given: AnswerGiven): Outcome {
  const { row, reply } = given;
  const memory = afterCall(row.memory, reply);
  const events: EventDraft[] = fallbackEvents(reply);
  const base: Outcome = {
    row: { chainPosition: reply.chainPosition, memory },
    entries: [],
    calls: [],
    closedCalls: [],
    events,
    counted: reply.usage
      ? [
          count('team_tokens', { team: row.teamId, kind: 'input' }, reply.usage.inputTotal),
          count('team_tokens', { team: row.teamId, kind: 'output' }, reply.usage.outputTotal),
        ]
      : [],
  };
  const message = reply.message ?? create(transcript.AssistantMessageSchema, {});
  if (reply.usage?.silentlyTruncated && row.memory.forcedInARow === 0) {
    return discarded(base, memory, compaction.PassReason.SILENT_TRUNCATION, 'silently_truncated');
  }
  switch (message.stopReason) {
    case transcript.StopReason.CONTEXT_WINDOW:
      return discarded(base, memory, compaction.PassReason.OVERFLOW, 'context_window');
    case transcript.StopReason.LENGTH:
      return foldCut(given, base, memory, message);
    default:
      return foldWhole(given, base, { ...memory, cuts: 0, outputBudget: 0, forcedInARow: 0 }, message);
  }
}

function afterCall(memory: Memory, reply: llm.CompleteReply): Memory {
  const { spend } = memory;
  return {
    ...memory,
    retries: 0,
    spend: {
      input: spend.input + (reply.usage?.inputTotal ?? 0),
      output: spend.output + (reply.usage?.outputTotal ?? 0),
      cacheRead: spend.cacheRead + (reply.usage?.cacheRead ?? 0),
      calls: spend.calls + 1,
    },
  };
}

function fallbackEvents(reply: llm.CompleteReply): EventDraft[] {
  return reply.fallbacks.map(({ from, to, reason, window, threshold }) => ({
    kind: 'fallback',
    data: { from, to, reason, window, threshold },
  }));
}

/** The answer was made from a cut input: it is not recorded, and a pass runs before the next call. */
function discarded(base: Outcome, memory: Memory, passDue: compaction.PassReason, reason: string): Outcome {
  return {
    ...base,
    row: { ...base.row, pending: task.Pending.STEP, memory: { ...memory, passDue } },
    events: [...base.events, { kind: 'answer_discarded', data: { reason } }],
  };
}

/** Cut by length: the doubled budget once, then up to three continuations, then a person has to look. */
function foldCut(given: AnswerGiven, base: Outcome, memory: Memory, message: transcript.AssistantMessage): Outcome {
  const cuts = memory.cuts + 1;
  if (cuts === 1) {
    const outputBudget = 2 * (given.reply.outputTokensSent || unknownOutputBudget);
    return {
      ...base,
      row: { ...base.row, pending: task.Pending.STEP, memory: { ...memory, cuts, outputBudget } },
      events: [...base.events, { kind: 'answer_discarded', data: { reason: 'length', outputBudget } }],
    };
  }
  const dropped = callsOf(message).length;
  const kept = create(transcript.AssistantMessageSchema, {
    ...message,
    blocks: message.blocks.filter(({ kind }) => kind.case === 'text'),
  });
  const note =
    'Your output was cut at its length limit.' +
    (dropped > 0 ? ' Tool calls in it were not run.' : '') +
    ' Go on exactly where it stopped. Make long files in several smaller calls.';
  const entries = [...given.sent.notes, ...assistantEntry(given, kept), noteEntry(given, 'output_cut', note)];
  const stops = cuts > 1 + continuationLimit;
  return {
    ...base,
    row: {
      ...base.row,
      ...(stops ? paused('the output was cut by its length limit five times in a row') : { pending: task.Pending.STEP }),
      iterations: given.row.iterations + 1,
      memory: bound(given, { ...memory, cuts: stops ? 0 : cuts }),
    },
    entries,
  };
}

function foldWhole(given: AnswerGiven, base: Outcome, memory: Memory, raw: transcript.AssistantMessage): Outcome {
  const message = withCallIds(raw, given.newId);
  const calls = callsOf(message);
  const answer = assistantEntry(given, message);
  const iterations = given.row.iterations + 1;
  if (calls.length === 0) {
    const ended = foldSilence(given, memory, message);
    const entries = [...given.sent.notes, ...answer, ...ended.notes];
    return {
      ...base,
      row: { ...base.row, ...ended.row, iterations, memory: bound(given, ended.memory) },
      entries,
      details: ended.result === undefined ? undefined : { result: ended.result },
    };
  }
  const drafts = draftCalls(calls, given.sent.offered);
  const failed = drafts.filter(({ state }) => state === 'failed');
  const plan = planBatch(drafts.map(asBatchCall), -1, given.batchBudget);
  const results = plan.kind === 'close' ? resultEntries(plan.results, given.estimate) : [];
  const entries = [...given.sent.notes, ...answer, ...results];
  const batch =
    plan.kind === 'close'
      ? undefined
      : { seq: given.row.lastSeq + given.sent.notes.length + 1, wave: plan.kind === 'dispatch' ? plan.wave : -1 };
  return {
    ...base,
    row: {
      ...base.row,
      iterations,
      toolCalls: given.row.toolCalls + calls.length,
      pending: plan.kind === 'dispatch' ? task.Pending.TOOLS : task.Pending.STEP,
      memory: { ...bound(given, { ...memory, nudges: 0 }), batch },
    },
    entries,
    calls: drafts,
    counted: [...base.counted, ...failed.map(() => count('task_tool_calls', { outcome: 'failed' }))],
  };
}

function asBatchCall(draft: ReturnType<typeof draftCalls>[number]): BatchCall {
  return { ...draft, result: draft.result };
}

interface Silence {
  readonly row: Outcome['row'];
  readonly memory: Memory;
  readonly notes: readonly EntryDraft[];
  readonly result?: string;
}

/** The model stopped without a tool call: done, or to be reminded. */
function foldSilence(given: AnswerGiven, memory: Memory, message: transcript.AssistantMessage): Silence {
  const open = given.details.criteria.filter(({ done }) => !done);
  const text = textOf(message);
  const nudges = memory.nudges + 1;
  const spoke = text !== '' && open.length === 0;
  if (spoke && (given.details.criteria.length > 0 || nudges > 1)) {
    const row = { state: task.TaskState.COMPLETED, pending: task.Pending.NONE, reason: '' };
    return { row, memory: { ...memory, nudges: 0 }, notes: [], result: text };
  }
  if (nudges > nudgeLimit) {
    return {
      row: paused('the model stopped without finishing, and reminders did not help'),
      memory: { ...memory, nudges: 0 },
      notes: [],
    };
  }
  const reminder =
    open.length > 0
      ? `You stopped while criteria are open: ${open.map(({ id, text: criterion }) => `${id} (${criterion})`).join('; ')}. Go on with the work, or ask with ask_user.`
      : 'You stopped without calling a tool. If the work is done, call finish with the result; otherwise go on.';
  return {
    row: { pending: task.Pending.STEP },
    memory: { ...memory, nudges },
    notes: [noteEntry(given, 'reminder', reminder)],
  };
}

/** Row fields of a task that stops where a person has to look, and can be resumed. */
export function paused(reason: string): Outcome['row'] {
  return { state: task.TaskState.PAUSED, pending: task.Pending.NONE, reason };
}

function assistantEntry(given: AnswerGiven, message: transcript.AssistantMessage): readonly EntryDraft[] {
  // No provider accepts an assistant message without content.
  if (message.blocks.length === 0) return [];
  const named = create(transcript.AssistantMessageSchema, {
    ...message,
    provider: given.reply.provider,
    model: given.reply.model,
  });
  const body: transcript.Entry['body'] = { case: 'assistant', value: named };
  return [{ body, estimate: given.estimate(body) }];
}

/** A notice that the model reads. */
export function noteEntry(
  given: { readonly estimate: (body: transcript.Entry['body']) => number },
  kind: string,
  text: string,
): EntryDraft {
  const body: transcript.Entry['body'] = { case: 'note', value: create(transcript.NoteSchema, { kind, text }) };
  return { body, estimate: given.estimate(body) };
}

/** Memory with the usage report bound to the request that was answered, unless the report says nothing. */
function bound(given: AnswerGiven, memory: Memory): Memory {
  const { sent, reply } = given;
  const usage = reply.usage;
  if (!usage || usage.inputTotal === 0 || usage.silentlyTruncated || usage.source !== transcript.UsageSource.TERMINAL) {
    return memory;
  }
  return {
    ...memory,
    usage: {
      input: usage.inputTotal,
      generation: sent.generation,
      through: sent.through,
      viewEstimate: sent.viewEstimate,
      provider: reply.provider,
      model: reply.model,
      prefix: sent.prefix,
      prefixEstimate: sent.prefixEstimate,
    },
  };
}
