import type { Answer } from '../../answer';
import { serverModel } from '../../config/server-spec';
import { objectOf } from '../../json';
import type { VendorName } from '../../vendors/vendor-names';
import { vendors } from '../../vendors/vendors';
import type { WriteContext } from '../format';
import { openAiChatBody, openAiChatFrames } from './write';

const answer: Answer = {
  id: 'c1',
  model: 'm',
  createdSeconds: 1,
  blocks: [{ type: 'text', text: 'ab', deltas: ['a', 'b'] }],
  stop: 'end',
  usage: { input: 2_640, cacheRead: 1_000, cacheWrite: 0, output: 854, reasoning: 672 },
};

function context(vendor: VendorName, includeUsage: boolean, usageFault?: WriteContext['usageFault']): WriteContext {
  const conversation = { model: 'm', system: '', tools: [], turns: [] };
  return {
    model: 'm',
    format: 'openai-chat',
    requestId: 'req_1',
    nowMs: 0,
    spec: serverModel.parse({}),
    vendor: vendors[vendor],
    request: { conversation, segments: [], stream: true, includeUsage, endsWithAssistant: false },
    ...(usageFault === undefined ? {} : { usageFault }),
  };
}

/** What the chunks of a stream say about usage, in order: absent, null, or the completion tokens. */
function usages(vendor: VendorName, includeUsage: boolean, usageFault?: WriteContext['usageFault']): unknown[] {
  return openAiChatFrames(answer, context(vendor, includeUsage, usageFault))
    .filter((frame) => frame.wire.startsWith('data: {'))
    .map((frame) => objectOf(JSON.parse(frame.wire.slice(6))))
    .map((chunk) =>
      chunk['usage'] === undefined || chunk['usage'] === null ? chunk['usage'] : objectOf(chunk['usage'])['completion_tokens'],
    );
}

describe('usage in a chat answer', () => {
  it.each<[VendorName, object]>([
    [
      'openai',
      {
        prompt_tokens: 2_640,
        completion_tokens: 854,
        total_tokens: 3_494,
        prompt_tokens_details: { cached_tokens: 1_000, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 672 },
      },
    ],
    [
      'grok',
      {
        prompt_tokens: 2_640,
        completion_tokens: 182,
        total_tokens: 3_494,
        prompt_tokens_details: { cached_tokens: 1_000, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 672 },
      },
    ],
    [
      'deepseek',
      {
        prompt_tokens: 2_640,
        completion_tokens: 854,
        total_tokens: 3_494,
        prompt_tokens_details: { cached_tokens: 1_000 },
        completion_tokens_details: { reasoning_tokens: 672 },
        prompt_cache_hit_tokens: 1_000,
        prompt_cache_miss_tokens: 1_640,
      },
    ],
    ['vllm', { prompt_tokens: 2_640, completion_tokens: 854, total_tokens: 3_494 }],
  ])('as %s counts', (vendor, usage) => {
    expect(objectOf(openAiChatBody(answer, context(vendor, false)))['usage']).toEqual(usage);
  });

  it.each<[string, VendorName, boolean, unknown[]]>([
    ['OpenAI: only when asked, null before, alone after the finish', 'openai', true, [null, null, null, null, 854]],
    ['OpenAI: not at all when not asked', 'openai', false, [undefined, undefined, undefined, undefined]],
    ['Mistral: on the finish chunk without being asked', 'mistral', false, [undefined, undefined, undefined, 854]],
    ['Gemini: running figures on every chunk', 'gemini-compat', false, [0, 1, 2, 182]],
    ['Azure: a chunk without choices comes first', 'azure', true, [undefined, null, null, null, null, 854]],
  ])('in a stream, %s', (_title, vendor, includeUsage, expected) => {
    expect(usages(vendor, includeUsage)).toEqual(expected);
  });

  it('Groq repeats it under x_groq', () => {
    const last = openAiChatFrames(answer, context('groq', false)).findLast((frame) =>
      frame.wire.includes('"finish_reason":"stop"'),
    );
    expect(objectOf(objectOf(JSON.parse(last?.wire.slice(6) ?? ''))['x_groq'])['usage']).toMatchObject({ prompt_tokens: 2_640 });
  });

  it('a fault leaves it out, or puts nulls everywhere', () => {
    expect([usages('mistral', false, 'no_usage'), usages('openai', true, 'null_usage_chunks')]).toEqual([
      [undefined, undefined, undefined, undefined],
      [null, null, null, null],
    ]);
  });
});
