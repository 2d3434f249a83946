import { transcript } from '@nightshift/contracts';
import { errorIn } from '../../classify/envelope';
import { isObject, objectAt, parseJson, stringOf, type Json, type JsonObject } from '../../classify/json';
import type { Frame } from '../../transport/frames';
import { mergeRaw } from '../../usage/normal-usage';
import type { AnswerEvent, StreamDecoder } from '../format';
import { usageNumbers } from './usage';

const stopReasons: Readonly<Record<string, transcript.StopReason>> = {
  end_turn: transcript.StopReason.END_TURN,
  pause_turn: transcript.StopReason.END_TURN,
  max_tokens: transcript.StopReason.LENGTH,
  stop_sequence: transcript.StopReason.STOP_SEQUENCE,
  tool_use: transcript.StopReason.TOOL_CALLS,
  refusal: transcript.StopReason.CONTENT_FILTER,
  model_context_window_exceeded: transcript.StopReason.CONTEXT_WINDOW,
};

export function stopReasonOf(text: string): transcript.StopReason {
  return stopReasons[text] ?? transcript.StopReason.UNSPECIFIED;
}

/** message_start, blocks one after the other, message_delta with the reason, message_stop; ping at any time. */
export function createDecoder(): StreamDecoder {
  let raw: JsonObject = {};
  return {
    usage: () => ({ numbers: usageNumbers(raw), raw }),
    // Only message_stop ends a message: whatever ends without it was cut.
    finish: () => [],
    push(frame: Frame): AnswerEvent[] {
      const event = parseJson(frame.data);
      if (event === undefined) return [{ kind: 'malformed', text: frame.data }];
      if (errorIn(event) !== undefined) return [{ kind: 'error', body: event }];
      if (!isObject(event)) return [{ kind: 'malformed', text: frame.data }];
      const index = typeof event.index === 'number' ? event.index : 0;
      switch (event.type) {
        case 'message_start': {
          const message = objectAt(event, 'message');
          raw = mergeRaw(raw, message.usage);
          return stringOf(message.model) ? [{ kind: 'model', model: stringOf(message.model) }] : [];
        }
        case 'content_block_start':
          return blockEvents(objectAt(event, 'content_block'), index);
        case 'content_block_delta':
          return deltaEvents(objectAt(event, 'delta'), index);
        case 'message_delta': {
          raw = mergeRaw(raw, event.usage);
          const reason = stringOf(objectAt(event, 'delta').stop_reason);
          return reason ? [{ kind: 'stop', reason: stopReasonOf(reason) }] : [];
        }
        case 'message_stop':
          return [{ kind: 'end' }];
        default:
          // ping, content_block_stop and kinds added later.
          return [];
      }
    },
  };
}

/** What a block holds when it opens: usually nothing but its name, in a one-body answer everything. */
export function blockEvents(block: JsonObject, index: number): AnswerEvent[] {
  switch (block.type) {
    case 'text':
      return stringOf(block.text) ? [{ kind: 'text', block: index, text: stringOf(block.text) }] : [];
    case 'thinking':
      return [
        ...(stringOf(block.thinking) ? [{ kind: 'reasoning' as const, block: index, text: stringOf(block.thinking) }] : []),
        ...(stringOf(block.signature)
          ? [{ kind: 'reasoning_seal' as const, block: index, signature: stringOf(block.signature) }]
          : []),
      ];
    case 'redacted_thinking':
      return [{ kind: 'reasoning_seal', block: index, opaqueJson: JSON.stringify(block) }];
    case 'tool_use': {
      const input = isObject(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : '';
      return [
        { kind: 'tool_call', block: index, providerId: stringOf(block.id), name: stringOf(block.name) },
        ...(input ? [{ kind: 'tool_call_arguments' as const, block: index, json: input }] : []),
      ];
    }
    default:
      return [];
  }
}

function deltaEvents(delta: JsonObject, index: number): AnswerEvent[] {
  switch (delta.type) {
    case 'text_delta':
      return [{ kind: 'text', block: index, text: stringOf(delta.text) }];
    case 'thinking_delta':
      return [{ kind: 'reasoning', block: index, text: stringOf(delta.thinking) }];
    case 'signature_delta':
      return [{ kind: 'reasoning_seal', block: index, signature: stringOf(delta.signature) }];
    case 'input_json_delta':
      return stringOf(delta.partial_json)
        ? [{ kind: 'tool_call_arguments', block: index, json: stringOf(delta.partial_json) }]
        : [];
    default:
      return [];
  }
}

/** A whole message in one body. */
export function readBody(body: Json): { events: AnswerEvent[]; raw: JsonObject } {
  if (errorIn(body) !== undefined) return { events: [{ kind: 'error', body }], raw: {} };
  if (!isObject(body) || !Array.isArray(body.content))
    return { events: [{ kind: 'malformed', text: JSON.stringify(body) }], raw: {} };
  const events: AnswerEvent[] = body.content.flatMap((block, index) => (isObject(block) ? blockEvents(block, index) : []));
  if (stringOf(body.model)) events.unshift({ kind: 'model', model: stringOf(body.model) });
  if (stringOf(body.stop_reason)) events.push({ kind: 'stop', reason: stopReasonOf(stringOf(body.stop_reason)) });
  events.push({ kind: 'end' });
  return { events, raw: mergeRaw({}, body.usage) };
}

/** Types of the dialect; clients look at the type, people at the message. */
export function errorFrame(code: string, message: string): string {
  const type =
    code === 'PROVIDER_RATE_LIMITED' || code === 'BUSY'
      ? 'rate_limit_error'
      : code === 'PROVIDER_OVERLOADED'
        ? 'overloaded_error'
        : 'api_error';
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`;
}
