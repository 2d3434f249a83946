import { create } from '@bufbuild/protobuf';
import { tool, transcript } from '@nightshift/contracts';
import type { CallDraft } from '../tasks/outcome';
import { knownTool, parseArguments } from '../tools/catalogue';
import { wavesOf } from '../tools/waves';

/** A result in plain text, without a stored part. */
export function textResult(
  call: { readonly callId: string; readonly providerId: string; readonly tool: string },
  text: string,
  outcome: transcript.ToolOutcome,
): transcript.ToolResult {
  return create(transcript.ToolResultSchema, {
    callId: call.callId,
    providerId: call.providerId,
    tool: call.tool,
    parts: [{ kind: { case: 'text', value: text } }],
    isError: outcome !== transcript.ToolOutcome.FINISHED,
    outcome,
  });
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/**
 * The assistant message with an id of ours in every call. A gateway that gave one keeps it; an id that repeats within
 * the message gets a fresh one, since results are matched by it.
 */
export function withCallIds(message: transcript.AssistantMessage, newId: () => string): transcript.AssistantMessage {
  const seen = new Set<string>();
  const blocks = message.blocks.map((block) => {
    if (block.kind.case !== 'toolCall') return block;
    const given = block.kind.value.id;
    const id = uuid.test(given) && !seen.has(given) ? given : newId();
    seen.add(id);
    return create(transcript.BlockSchema, { kind: { case: 'toolCall', value: { ...block.kind.value, id } } });
  });
  return create(transcript.AssistantMessageSchema, { ...message, blocks });
}

export function callsOf(message: transcript.AssistantMessage): readonly transcript.ToolCall[] {
  return message.blocks.flatMap(({ kind }) => (kind.case === 'toolCall' ? [kind.value] : []));
}

export function textOf(message: transcript.AssistantMessage): string {
  return message.blocks
    .flatMap(({ kind }) => (kind.case === 'text' ? [kind.value] : []))
    .join('\n')
    .trim();
}

/**
 * The ledger rows of one turn. A call with an unknown tool, with wrong arguments, or of a tool the task was not given is
 * closed at once with an error that the model can act on; it never reaches a runner.
 */
export function draftCalls(calls: readonly transcript.ToolCall[], offered: ReadonlySet<string>): readonly CallDraft[] {
  const drafts = calls.map((call, position) => draftCall(call, position, offered));
  const open = drafts.filter(({ state }) => state === 'intended');
  const waves = wavesOf(open);
  return drafts.map((draft) => ({ ...draft, wave: waves[open.indexOf(draft)] ?? 0 }));
}

function draftCall(call: transcript.ToolCall, position: number, offered: ReadonlySet<string>): CallDraft {
  const known = knownTool(call.name);
  const draft = {
    callId: call.id,
    providerId: call.providerId,
    position,
    wave: 0,
    tool: call.name,
    place: known?.place ?? 'state',
    effect: known?.effect ?? tool.Effect.READ_ONLY,
    argumentsJson: call.argumentsJson,
  } as const;
  const parsed =
    known && !offered.has(call.name)
      ? ({ ok: false, fault: `The tool ${call.name} is not available in this task. Tools: ${[...offered].join(', ')}.` } as const)
      : parseArguments(call.name, call.argumentsJson);
  if (parsed.ok) return { ...draft, state: 'intended' };
  return { ...draft, state: 'failed', result: textResult(draft, parsed.fault, transcript.ToolOutcome.FAILED) };
}
