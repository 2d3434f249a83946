import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';

/** What an entry holds besides its body; `id` and `atMs` follow from `seq`, so equal calls give equal entries. */
export interface EntryOptions {
  seq?: number;
  atMs?: number;
}

type Body = NonNullable<MessageInitShape<typeof transcript.EntrySchema>['body']>;

/** 2026-01-01T00:00:00Z. */
const start = 1_767_225_600_000;

function entry(body: Body, options: EntryOptions): transcript.Entry {
  const seq = options.seq ?? 1;
  return create(transcript.EntrySchema, {
    seq,
    id: `01940000-0000-7000-8000-${seq.toString(16).padStart(12, '0')}`,
    atMs: BigInt(options.atMs ?? start + seq * 1_000),
    body,
  });
}

/** A message of the user; the first of a task is the goal. */
export function userEntry(text: string, options: EntryOptions & { origin?: transcript.UserOrigin } = {}): transcript.Entry {
  const origin = options.origin ?? ((options.seq ?? 1) === 1 ? transcript.UserOrigin.GOAL : transcript.UserOrigin.STEER);
  return entry({ case: 'user', value: { parts: [{ kind: { case: 'text', value: text } }], origin } }, options);
}

export interface CallSpec {
  /** Also the provider's id; `call_1` and so on. */
  id: string;
  name: string;
  args?: Record<string, unknown>;
}

export interface AssistantSpec {
  text?: string;
  calls?: readonly CallSpec[];
  reasoning?: MessageInitShape<typeof transcript.ReasoningSchema>;
  provider?: string;
  model?: string;
  stopReason?: transcript.StopReason;
}

/** An answer of the model: reasoning, text and calls in that order. */
export function assistantEntry(spec: AssistantSpec | string, options: EntryOptions = {}): transcript.Entry {
  const { text, calls = [], reasoning, ...rest } = typeof spec === 'string' ? { text: spec } : spec;
  const blocks: MessageInitShape<typeof transcript.BlockSchema>[] = [];
  if (reasoning) blocks.push({ kind: { case: 'reasoning', value: reasoning } });
  if (text !== undefined) blocks.push({ kind: { case: 'text', value: text } });
  for (const call of calls) {
    const value = { id: call.id, providerId: call.id, name: call.name, argumentsJson: JSON.stringify(call.args ?? {}) };
    blocks.push({ kind: { case: 'toolCall', value } });
  }
  return entry({ case: 'assistant', value: { provider: 'simulator', model: 'primary', ...rest, blocks } }, options);
}

export interface ResultSpec {
  callId: string;
  tool: string;
  text: string;
  isError?: boolean;
  stored?: MessageInitShape<typeof transcript.StoredReferenceSchema>;
  outcome?: transcript.ToolOutcome;
}

/** The result of one call. */
export function toolResultEntry(spec: ResultSpec, options: EntryOptions = {}): transcript.Entry {
  const { callId, text, outcome, ...rest } = spec;
  const finished = spec.isError ? transcript.ToolOutcome.FAILED : transcript.ToolOutcome.FINISHED;
  const value = {
    ...rest,
    callId,
    providerId: callId,
    parts: [{ kind: { case: 'text' as const, value: text } }],
    outcome: outcome ?? finished,
  };
  return entry({ case: 'toolResult', value }, options);
}

/** A notice by the platform. */
export function noteEntry(kind: string, text: string, options: EntryOptions = {}): transcript.Entry {
  return entry({ case: 'note', value: { kind, text } }, options);
}

/** Numbers entries 1…n in the given order. */
export function numbered(entries: readonly transcript.Entry[]): transcript.Entry[] {
  return entries.map((each, index) => entry(each.body as Body, { seq: index + 1 }));
}
