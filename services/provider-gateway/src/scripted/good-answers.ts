import type { FormatName } from '../formats/format';
import { anthropicDelta, anthropicStart, chatDelta, sse } from './answers';
import type { ScriptedAnswer, Step } from './upstream';

/** How a good answer looks in each format: the pieces that scripted upstreams are put together from. */
interface Dialect {
  contentType: string;
  start(usage: object | undefined): string;
  delta(text: string): string;
  end(text: string, usage: object | undefined): string;
  body(text: string, usage: object | undefined): object;
}

const chatUsage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
const messagesUsage = { input_tokens: 100, output_tokens: 5 };
const ollamaUsage = { prompt_eval_count: 100, eval_count: 5 };

const dialects: Readonly<Record<FormatName, Dialect>> = {
  'openai-chat': {
    contentType: 'text/event-stream',
    start: () =>
      sse({
        id: 'c',
        object: 'chat.completion.chunk',
        model: 'model',
        choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
      }),
    delta: (text) => sse(chatDelta(text)),
    end: (_text, usage) =>
      sse({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { choices: [], usage: usage ?? chatUsage }, '[DONE]'),
    body: (text, usage) => ({
      id: 'c',
      model: 'model',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: usage ?? chatUsage,
    }),
  },
  'anthropic-messages': {
    contentType: 'text/event-stream',
    start: (usage) => sse(...anthropicStart({ ...messagesUsage, ...usage, output_tokens: 1 })),
    delta: (text) => sse(anthropicDelta(text)),
    end: (_text, usage) =>
      sse(
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...messagesUsage, ...usage } },
        { type: 'message_stop' },
      ),
    body: (text, usage) => ({
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'model',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: usage ?? messagesUsage,
    }),
  },
  'openai-responses': {
    contentType: 'text/event-stream',
    start: () =>
      sse(
        { type: 'response.created', response: { id: 'r', model: 'model', status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item: { type: 'message', role: 'assistant', content: [] } },
      ),
    delta: (text) => sse({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text }),
    end: (text, usage) =>
      sse(
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
        },
        { type: 'response.completed', response: { id: 'r', status: 'completed', usage: usage ?? messagesUsage } },
      ),
    body: (text, usage) => ({
      id: 'r',
      status: 'completed',
      model: 'model',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
      usage: usage ?? messagesUsage,
    }),
  },
  'ollama-chat': {
    contentType: 'application/x-ndjson',
    start: () => '',
    delta: (text) => `${JSON.stringify({ model: 'model', message: { role: 'assistant', content: text }, done: false })}\n`,
    end: (_text, usage) =>
      `${JSON.stringify({ model: 'model', message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', ...(usage ?? ollamaUsage) })}\n`,
    body: (text, usage) => ({
      model: 'model',
      message: { role: 'assistant', content: text },
      done: true,
      done_reason: 'stop',
      ...(usage ?? ollamaUsage),
    }),
  },
};

/** A whole good answer, streamed. */
export function goodStream(format: FormatName, text: string, usage?: object): ScriptedAnswer {
  const { contentType, start, delta, end } = dialects[format];
  const deltas = text.split(/(?<= )/).map(delta);
  return { headers: { 'content-type': contentType }, steps: [{ write: start(usage) + deltas.join('') + end(text, usage) }] };
}

/** The same in one body. */
export function goodBody(format: FormatName, text: string, usage?: object): ScriptedAnswer {
  return { body: JSON.stringify(dialects[format].body(text, usage)) };
}

/** The beginning of an answer with `count` deltas of one word each. */
export function someDeltas(format: FormatName, count: number): Step[] {
  const { start, delta } = dialects[format];
  return [{ write: start(undefined) }, ...Array.from({ length: count }, (_, index) => ({ write: delta(`word${index} `) }))];
}

/** How a streamed answer ends; used after `someDeltas`. */
export function properEnd(format: FormatName): Step {
  return { write: dialects[format].end('', undefined) };
}

export function streamType(format: FormatName): string {
  return dialects[format].contentType;
}
