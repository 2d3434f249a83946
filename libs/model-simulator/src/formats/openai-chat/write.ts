import type { Answer, AnswerBlock, Stop } from '../../answer';
import { cut } from '../../answer-text';
import { sse, type Frame, type FrameKind, type WriteContext } from '../format';
import { chatUsage } from './usage';

const finishReasons: Record<Stop, string> = {
  end: 'stop',
  calls: 'tool_calls',
  length: 'length',
  window: 'length',
  filter: 'content_filter',
  stop_sequence: 'stop',
};

function textIn(blocks: readonly AnswerBlock[], type: 'text' | 'reasoning'): string {
  return blocks.map((block) => (block.type === type ? block.text : '')).join('');
}

export function openAiChatBody(answer: Answer, context: WriteContext): unknown {
  const calls = answer.blocks.filter((block) => block.type === 'call');
  const text = textIn(answer.blocks, 'text');
  const reasoning = textIn(answer.blocks, 'reasoning');
  return {
    id: answer.id,
    object: 'chat.completion',
    created: answer.createdSeconds,
    model: answer.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          refusal: null,
          ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map((call) => ({
                  id: call.id,
                  type: 'function',
                  function: { name: call.name, arguments: call.json },
                })),
              }),
        },
        logprobs: null,
        finish_reason: finishReasons[answer.stop],
      },
    ],
    ...(context.usageFault === undefined ? { usage: chatUsage(answer.usage, context.vendor.usage) } : {}),
    system_fingerprint: 'fp_simulator',
  };
}

export function openAiChatFrames(answer: Answer, context: WriteContext): Frame[] {
  const { spec, vendor, request } = context;
  const style = vendor.usage;
  const chunk = chunkMaker(answer, context);
  const frames = openAiChatEmptyFrames(answer, context);
  let callIndex = -1;
  for (const block of answer.blocks) {
    if (block.type === 'reasoning')
      for (const piece of cut(block.text, spec.latency.deltaChars)) frames.push(chunk('delta', { reasoning_content: piece }));
    if (block.type === 'text') for (const piece of block.deltas) frames.push(chunk('delta', { content: piece }));
    if (block.type === 'call') {
      callIndex++;
      frames.push(
        chunk('delta', {
          tool_calls: [{ index: callIndex, id: block.id, type: 'function', function: { name: block.name, arguments: '' } }],
        }),
      );
      for (const piece of cut(block.json, spec.latency.deltaChars))
        frames.push(chunk('delta', { tool_calls: [{ index: callIndex, function: { arguments: piece } }] }));
    }
  }
  const usage = context.usageFault === undefined ? chatUsage(answer.usage, style) : undefined;
  const onFinish =
    usage === undefined || style.inStream === 'asked'
      ? {}
      : { usage, ...(style.extra === 'x_groq' ? { x_groq: { id: answer.id, usage } } : {}) };
  frames.push(chunk('close', {}, finishReasons[answer.stop], onFinish));
  if (usage !== undefined && style.inStream === 'asked' && request.includeUsage)
    frames.push({ kind: 'close', wire: sse({ ...envelope(answer), choices: [], usage, ...timings(answer, context) }) });
  frames.push({ kind: 'terminator', wire: sse('[DONE]') });
  return frames;
}

function envelope(answer: Answer): Record<string, unknown> {
  return {
    id: answer.id,
    object: 'chat.completion.chunk',
    created: answer.createdSeconds,
    model: answer.model,
    system_fingerprint: 'fp_simulator',
  };
}

function timings(answer: Answer, context: WriteContext): Record<string, unknown> {
  if (context.vendor.usage.extra !== 'timings') return {};
  const { cacheRead, input, output } = answer.usage;
  return { timings: { cache_n: cacheRead, prompt_n: input - cacheRead, predicted_n: output } };
}

type Chunk = (kind: FrameKind, delta: unknown, finish?: string, more?: Record<string, unknown>) => Frame;

/** Every chunk but the last carries usage as null when usage was asked for; some vendors send running figures on each. */
function chunkMaker(answer: Answer, context: WriteContext): Chunk {
  const style = context.vendor.usage;
  const nulls = context.usageFault === 'null_usage_chunks' || (style.inStream === 'asked' && context.request.includeUsage);
  let running = 0;
  return (kind, delta, finish, more = {}) => {
    if (kind === 'delta') running++;
    const usage =
      style.inStream === 'every' && context.usageFault === undefined
        ? { usage: chatUsage({ ...answer.usage, output: Math.min(running, answer.usage.output), reasoning: 0 }, style) }
        : nulls
          ? { usage: null }
          : {};
    return {
      kind,
      wire: sse({
        ...envelope(answer),
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish ?? null }],
        ...usage,
        ...more,
      }),
    };
  };
}

export function openAiChatEmptyFrames(answer: Answer, context: WriteContext): Frame[] {
  const { preamble } = context.vendor;
  const first: Frame[] = preamble === undefined ? [] : [{ kind: 'open', wire: preamble }];
  return [...first, chunkMaker(answer, context)('open', { role: 'assistant', content: '', refusal: null })];
}
