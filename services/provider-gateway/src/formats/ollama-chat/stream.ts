import { transcript } from '@nightshift/contracts';
import { errorIn } from '../../classify/envelope';
import { isObject, objectAt, parseJson, stringOf, type Json, type JsonObject } from '../../classify/json';
import type { Frame } from '../../transport/frames';
import { mergeRaw } from '../../usage/normal-usage';
import type { AnswerEvent, StreamDecoder } from '../format';
import { usageNumbers } from './usage';

const reasoningBlock = 0;
const textBlock = 1;
const firstCallBlock = 2;

export function createDecoder(): StreamDecoder {
  let raw: JsonObject = {};
  const lines = lineReader();
  return {
    usage: () => ({ numbers: usageNumbers(raw), raw }),
    // Only a line with done:true ends an answer.
    finish: () => [],
    push(frame: Frame): AnswerEvent[] {
      const line = parseJson(frame.data);
      if (line === undefined) return [{ kind: 'malformed', text: frame.data }];
      if (isObject(line) && line.done === true) raw = counts(line);
      return lines(line);
    },
  };
}

/** Reads one line; a whole answer in one body has the same shape. */
function lineReader(): (line: Json) => AnswerEvent[] {
  let calls = 0;
  return (line) => {
    if (errorIn(line) !== undefined) return [{ kind: 'error', body: line }];
    if (!isObject(line)) return [{ kind: 'malformed', text: JSON.stringify(line) }];
    const message = objectAt(line, 'message');
    const events: AnswerEvent[] = [];
    if (stringOf(message.thinking)) events.push({ kind: 'reasoning', block: reasoningBlock, text: stringOf(message.thinking) });
    if (stringOf(message.content)) events.push({ kind: 'text', block: textBlock, text: stringOf(message.content) });
    for (const call of Array.isArray(message.tool_calls) ? message.tool_calls : []) {
      const made = objectAt(call, 'function');
      const block = firstCallBlock + calls++;
      events.push({ kind: 'tool_call', block, providerId: isObject(call) ? stringOf(call.id) : '', name: stringOf(made.name) });
      events.push({
        kind: 'tool_call_arguments',
        block,
        json: isObject(made.arguments) ? JSON.stringify(made.arguments) : stringOf(made.arguments),
      });
    }
    if (line.done === true) events.push(...endEvents(stringOf(line.done_reason), calls > 0));
    return events;
  };
}

/** `load` and `unload` answer a request without messages: the model was put into memory, nothing was generated. */
function endEvents(reason: string, hasCalls: boolean): AnswerEvent[] {
  const stop =
    reason === 'length'
      ? transcript.StopReason.LENGTH
      : hasCalls
        ? transcript.StopReason.TOOL_CALLS
        : transcript.StopReason.END_TURN;
  return [{ kind: 'stop', reason: stop }, { kind: 'end' }];
}

function counts(line: JsonObject): JsonObject {
  const { prompt_eval_count, prompt_eval_cached_count, eval_count, total_duration } = line;
  return mergeRaw({}, { prompt_eval_count, prompt_eval_cached_count, eval_count, total_duration });
}

export function readBody(body: Json): { events: AnswerEvent[]; raw: JsonObject } {
  const events = lineReader()(body);
  if (events[0]?.kind === 'error' || events[0]?.kind === 'malformed') return { events, raw: {} };
  return { events, raw: isObject(body) ? counts(body) : {} };
}

export function errorFrame(code: string, message: string): string {
  return `${JSON.stringify({ error: `${code}: ${message}` })}\n`;
}
