import { transcript } from '@nightshift/contracts';
import { errorIn } from '../../classify/envelope';
import { isObject, objectAt, parseJson, stringOf, type Json, type JsonObject } from '../../classify/json';
import type { Frame } from '../../transport/frames';
import { mergeRaw } from '../../usage/normal-usage';
import type { AnswerEvent, StreamDecoder } from '../format';
import { usageNumbers } from './usage';

/** Chat completions have no numbered blocks: reasoning comes first, then text, then the calls by their index. */
const reasoningBlock = 0;
const textBlock = 1;
const firstCallBlock = 2;

const stopReasons: Readonly<Record<string, transcript.StopReason>> = {
  stop: transcript.StopReason.END_TURN,
  eos: transcript.StopReason.END_TURN,
  length: transcript.StopReason.LENGTH,
  tool_calls: transcript.StopReason.TOOL_CALLS,
  function_call: transcript.StopReason.TOOL_CALLS,
  content_filter: transcript.StopReason.CONTENT_FILTER,
  model_context_window_exceeded: transcript.StopReason.CONTEXT_WINDOW,
};

export function createDecoder(): StreamDecoder {
  let raw: JsonObject = {};
  let stopped = false;
  let modelSeen = false;
  const message = messageReader();

  return {
    usage: () => ({ numbers: usageNumbers(raw), raw }),
    // A finish reason is the proper end; some servers leave [DONE] out. Without one the answer was cut.
    finish: () => (stopped ? [{ kind: 'end' }] : []),
    push(frame: Frame): AnswerEvent[] {
      if (frame.data.trim() === '[DONE]') return message.ended(stopped);
      const chunk = parseJson(frame.data);
      if (chunk === undefined) return [{ kind: 'malformed', text: frame.data }];
      if (errorIn(chunk) !== undefined) return [{ kind: 'error', body: chunk }];
      if (!isObject(chunk)) return [{ kind: 'malformed', text: frame.data }];
      raw = mergeRaw(mergeRaw(raw, chunk.usage), objectAt(chunk, 'x_groq').usage);
      const events: AnswerEvent[] = [];
      if (!modelSeen && stringOf(chunk.model)) {
        modelSeen = true;
        events.push({ kind: 'model', model: stringOf(chunk.model) });
      }
      const choice = Array.isArray(chunk.choices) ? chunk.choices.find((c) => isObject(c) && (c.index ?? 0) === 0) : undefined;
      if (!isObject(choice)) return events;
      events.push(...message.read(objectAt(choice, 'delta')));
      const finish = stringOf(choice.finish_reason);
      if (finish === 'error') return [...events, { kind: 'error', body: chunk }];
      if (finish && !stopped) {
        stopped = true;
        events.push(message.stop(finish));
      }
      return events;
    },
  };
}

interface MessageReader {
  read(delta: JsonObject): AnswerEvent[];
  stop(finish: string): AnswerEvent;
  ended(stopped: boolean): AnswerEvent[];
}

/** Reads deltas and whole messages alike. */
function messageReader(): MessageReader {
  const calls = new Map<number, { id: string }>();
  let lastCall = -1;
  let details: Json[] = [];

  const callIndex = (call: JsonObject): number => {
    if (typeof call.index === 'number') return call.index;
    // Older servers leave the index out: a new id opens a call, anything else continues the last one.
    for (const [index, known] of calls) if (stringOf(call.id) && known.id === call.id) return index;
    return stringOf(call.id) || lastCall < 0 ? calls.size : lastCall;
  };

  const readCall = (call: JsonObject): AnswerEvent[] => {
    const events: AnswerEvent[] = [];
    const index = callIndex(call);
    const made = objectAt(call, 'function');
    if (!calls.has(index)) {
      calls.set(index, { id: stringOf(call.id) });
      events.push({ kind: 'tool_call', block: firstCallBlock + index, providerId: stringOf(call.id), name: stringOf(made.name) });
    }
    lastCall = index;
    const json = isObject(made.arguments) ? JSON.stringify(made.arguments) : stringOf(made.arguments);
    if (json) events.push({ kind: 'tool_call_arguments', block: firstCallBlock + index, json });
    return events;
  };

  return {
    read(delta) {
      const events: AnswerEvent[] = [];
      const reasoning = stringOf(delta.reasoning_content) || stringOf(delta.reasoning);
      if (reasoning) events.push({ kind: 'reasoning', block: reasoningBlock, text: reasoning });
      if (Array.isArray(delta.reasoning_details))
        details = [...details, ...delta.reasoning_details.filter((d): d is Json => d !== undefined)];
      events.push(...contentEvents(delta.content));
      if (stringOf(delta.refusal)) events.push({ kind: 'text', block: textBlock, text: stringOf(delta.refusal) });
      for (const call of Array.isArray(delta.tool_calls) ? delta.tool_calls : [])
        if (isObject(call)) events.push(...readCall(call));
      return events;
    },
    stop(finish) {
      const reason = stopReasons[finish] ?? transcript.StopReason.UNSPECIFIED;
      // Several servers say "stop" after tool calls.
      return {
        kind: 'stop',
        reason: reason === transcript.StopReason.END_TURN && calls.size > 0 ? transcript.StopReason.TOOL_CALLS : reason,
      };
    },
    ended(stopped) {
      const events: AnswerEvent[] = [];
      if (details.length > 0) events.push({ kind: 'reasoning_seal', block: reasoningBlock, opaqueJson: JSON.stringify(details) });
      if (!stopped)
        events.push({ kind: 'stop', reason: calls.size > 0 ? transcript.StopReason.TOOL_CALLS : transcript.StopReason.END_TURN });
      return [...events, { kind: 'end' }];
    },
  };
}

/** Text, or the parts in which Mistral sends thinking and text. */
function contentEvents(content: Json | undefined): AnswerEvent[] {
  if (typeof content === 'string') return content ? [{ kind: 'text', block: textBlock, text: content }] : [];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part): AnswerEvent[] => {
    if (!isObject(part)) return [];
    if (part.type === 'thinking') {
      const text = Array.isArray(part.thinking)
        ? part.thinking.map((piece) => stringOf(isObject(piece) ? piece.text : piece)).join('')
        : stringOf(part.thinking);
      return text ? [{ kind: 'reasoning', block: reasoningBlock, text }] : [];
    }
    return stringOf(part.text) ? [{ kind: 'text', block: textBlock, text: stringOf(part.text) }] : [];
  });
}

/** A whole completion in one body. */
export function readBody(body: Json): { events: AnswerEvent[]; raw: JsonObject } {
  if (errorIn(body) !== undefined) return { events: [{ kind: 'error', body }], raw: {} };
  const choice = isObject(body) && Array.isArray(body.choices) ? body.choices[0] : undefined;
  if (!isObject(body) || !isObject(choice)) return { events: [{ kind: 'malformed', text: JSON.stringify(body) }], raw: {} };
  const message = messageReader();
  const finish = stringOf(choice.finish_reason);
  const events: AnswerEvent[] = stringOf(body.model) ? [{ kind: 'model', model: stringOf(body.model) }] : [];
  events.push(...message.read(objectAt(choice, 'message')));
  if (finish) events.push(message.stop(finish));
  events.push(...message.ended(finish !== ''));
  return { events, raw: mergeRaw(mergeRaw({}, body.usage), objectAt(body, 'x_groq').usage) };
}

/** No [DONE] behind it: an error is not an end. */
export function errorFrame(code: string, message: string): string {
  return `data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code: code.toLowerCase() } })}\n\n`;
}
