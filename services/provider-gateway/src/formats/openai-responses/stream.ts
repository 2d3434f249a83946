import { transcript } from '@nightshift/contracts';
import { errorIn } from '../../classify/envelope';
import { isObject, objectAt, parseJson, stringOf, type Json, type JsonObject } from '../../classify/json';
import type { Frame } from '../../transport/frames';
import { mergeRaw } from '../../usage/normal-usage';
import type { AnswerEvent, StreamDecoder } from '../format';
import { usageNumbers } from './usage';

/** Items by output_index; only response.completed, .incomplete and .failed end an answer. */
export function createDecoder(): StreamDecoder {
  let raw: JsonObject = {};
  const calls = new Map<number, { argumentsSeen: boolean }>();
  const textSeen = new Set<number>();

  const itemDone = (item: JsonObject, index: number): AnswerEvent[] => {
    switch (item.type) {
      case 'function_call': {
        const known = calls.get(index);
        const whole = itemEvents(item, index);
        if (!known) return whole;
        return known.argumentsSeen ? [] : whole.filter((event) => event.kind === 'tool_call_arguments');
      }
      case 'reasoning':
        return itemEvents(item, index).filter((event) => event.kind === 'reasoning_seal' || !textSeen.has(index));
      case 'message':
        return textSeen.has(index) ? [] : itemEvents(item, index);
      default:
        return [];
    }
  };

  return {
    usage: () => ({ numbers: usageNumbers(raw), raw }),
    finish: () => [],
    push(frame: Frame): AnswerEvent[] {
      if (frame.data.trim() === '[DONE]') return [];
      const event = parseJson(frame.data);
      if (event === undefined) return [{ kind: 'malformed', text: frame.data }];
      if (isObject(event)) raw = mergeRaw(raw, objectAt(event, 'response').usage);
      if (errorIn(event) !== undefined) return [{ kind: 'error', body: event }];
      if (!isObject(event)) return [{ kind: 'malformed', text: frame.data }];
      const index = typeof event.output_index === 'number' ? event.output_index : 0;
      switch (event.type) {
        case 'response.created':
          return stringOf(objectAt(event, 'response').model)
            ? [{ kind: 'model', model: stringOf(objectAt(event, 'response').model) }]
            : [];
        case 'response.output_item.added': {
          const item = objectAt(event, 'item');
          if (item.type !== 'function_call') return [];
          calls.set(index, { argumentsSeen: false });
          return itemEvents({ ...item, arguments: '' }, index);
        }
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          textSeen.add(index);
          return [{ kind: 'text', block: index, text: stringOf(event.delta) }];
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          textSeen.add(index);
          return [{ kind: 'reasoning', block: index, text: stringOf(event.delta) }];
        case 'response.function_call_arguments.delta': {
          const known = calls.get(index);
          if (known) known.argumentsSeen = true;
          return [{ kind: 'tool_call_arguments', block: index, json: stringOf(event.delta) }];
        }
        case 'response.output_item.done':
          return itemDone(objectAt(event, 'item'), index);
        case 'response.completed':
        case 'response.incomplete':
          return [{ kind: 'stop', reason: stopReasonOf(objectAt(event, 'response'), calls.size > 0) }, { kind: 'end' }];
        default:
          return [];
      }
    },
  };
}

function stopReasonOf(response: JsonObject, hasCalls: boolean): transcript.StopReason {
  const reason = stringOf(objectAt(response, 'incomplete_details').reason);
  if (reason === 'max_output_tokens') return transcript.StopReason.LENGTH;
  if (reason === 'content_filter') return transcript.StopReason.CONTENT_FILTER;
  if (reason) return transcript.StopReason.UNSPECIFIED;
  return hasCalls ? transcript.StopReason.TOOL_CALLS : transcript.StopReason.END_TURN;
}

/** A whole output item. The reasoning item goes back as it came, encrypted content included. */
function itemEvents(item: JsonObject, index: number): AnswerEvent[] {
  switch (item.type) {
    case 'message':
      return (Array.isArray(item.content) ? item.content : []).flatMap((part): AnswerEvent[] => {
        const text = isObject(part) ? stringOf(part.text) || stringOf(part.refusal) : '';
        return text ? [{ kind: 'text', block: index, text }] : [];
      });
    case 'function_call':
      return [
        { kind: 'tool_call', block: index, providerId: stringOf(item.call_id) || stringOf(item.id), name: stringOf(item.name) },
        ...(stringOf(item.arguments)
          ? [{ kind: 'tool_call_arguments' as const, block: index, json: stringOf(item.arguments) }]
          : []),
      ];
    case 'reasoning': {
      const summary = (Array.isArray(item.summary) ? item.summary : [])
        .map((part) => (isObject(part) ? stringOf(part.text) : ''))
        .join('\n');
      return [
        ...(summary ? [{ kind: 'reasoning' as const, block: index, text: summary }] : []),
        { kind: 'reasoning_seal', block: index, opaqueJson: JSON.stringify(item) },
      ];
    }
    default:
      return [];
  }
}

/** A whole response in one body. */
export function readBody(body: Json): { events: AnswerEvent[]; raw: JsonObject } {
  if (errorIn(body) !== undefined || (isObject(body) && body.status === 'failed'))
    return { events: [{ kind: 'error', body }], raw: {} };
  if (!isObject(body) || !Array.isArray(body.output))
    return { events: [{ kind: 'malformed', text: JSON.stringify(body) }], raw: {} };
  const events: AnswerEvent[] = stringOf(body.model) ? [{ kind: 'model', model: stringOf(body.model) }] : [];
  body.output.forEach((item, index) => {
    if (isObject(item)) events.push(...itemEvents(item, index));
  });
  events.push(
    {
      kind: 'stop',
      reason: stopReasonOf(
        body,
        events.some((event) => event.kind === 'tool_call'),
      ),
    },
    { kind: 'end' },
  );
  return { events, raw: mergeRaw({}, body.usage) };
}

export function errorFrame(code: string, message: string): string {
  const error = { code: code.toLowerCase(), message };
  return `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', response: { status: 'failed', error } })}\n\n`;
}
