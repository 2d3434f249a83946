import type { Answer, AnswerBlock } from '../../answer';
import { cut } from '../../answer-text';
import { isObject, objectOf, parseArguments, textOf } from '../../json';
import type { Format, Frame, FrameKind, WriteContext } from '../format';
import { readOllama } from './read';

const NANOSECONDS = 1_000_000;

function line(kind: FrameKind, data: Record<string, unknown>): Frame {
  return { kind, wire: `${JSON.stringify(data)}\n` };
}

function head(answer: Answer): Record<string, unknown> {
  return { model: answer.model, created_at: new Date(answer.createdSeconds * 1000).toISOString() };
}

function toolCalls(blocks: readonly AnswerBlock[]): unknown[] {
  return blocks.flatMap((block) =>
    block.type === 'call' ? [{ id: block.id, function: { name: block.name, arguments: parseArguments(block.json) } }] : [],
  );
}

/** Counters come on the last line only; prompt_eval_count holds cached and evaluated tokens. */
function end(answer: Answer, context: WriteContext): Record<string, unknown> {
  const { usage } = answer;
  const counts =
    context.usageFault === undefined
      ? {
          prompt_eval_count: usage.input,
          prompt_eval_cached_count: usage.cacheRead,
          prompt_eval_duration: usage.input * NANOSECONDS,
          eval_count: usage.output,
          eval_duration: usage.output * NANOSECONDS,
        }
      : {};
  const reason = answer.stop === 'length' || answer.stop === 'window' ? 'length' : 'stop';
  return { done_reason: reason, done: true, total_duration: 5 * NANOSECONDS, load_duration: NANOSECONDS, ...counts };
}

function frames(answer: Answer, context: WriteContext): Frame[] {
  const written: Frame[] = [];
  const message = (more: Record<string, unknown>): void => {
    written.push(line('delta', { ...head(answer), message: { role: 'assistant', content: '', ...more }, done: false }));
  };
  for (const block of answer.blocks) {
    if (block.type === 'reasoning')
      for (const thinking of cut(block.text, context.spec.latency.deltaChars)) message({ thinking });
    if (block.type === 'text') for (const content of block.deltas) message({ content });
  }
  const calls = toolCalls(answer.blocks);
  if (calls.length > 0) message({ tool_calls: calls });
  written.push(line('terminator', { ...head(answer), message: { role: 'assistant', content: '' }, ...end(answer, context) }));
  return written;
}

function body(answer: Answer, context: WriteContext): unknown {
  const text = (type: 'text' | 'reasoning'): string =>
    answer.blocks.map((block) => (block.type === type ? block.text : '')).join('');
  const calls = toolCalls(answer.blocks);
  const thinking = text('reasoning');
  const message = {
    role: 'assistant',
    content: text('text'),
    ...(thinking === '' ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return { ...head(answer), message, ...end(answer, context) };
}

export const ollamaFormat: Format = {
  name: 'ollama',
  streamType: 'application/x-ndjson',
  malformed: '{"bad\n',
  tokenFactor: 1,
  read: readOllama,
  frames,
  body,
  errorFrame: (error) => {
    const told = objectOf(error)['error'];
    const text = isObject(told) ? textOf(told['message']) : textOf(told);
    return `${JSON.stringify({ error: text === '' ? 'an error was encountered while running the model' : text })}\n`;
  },
  emptyFrames: (answer) => [line('open', { ...head(answer), message: { role: 'assistant', content: '' }, done: false })],
};
