import { readSizes, sizePatterns } from './sizes';

const texts: readonly [pattern: string, text: string][] = [
  [
    'at-most-completion',
    'max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.',
  ],
  ['max-tokens-greater', 'max_tokens: 70000 > 64000, which is the maximum allowed number of output tokens for claude-x'],
  [
    'max-output-range',
    'it has a maxOutputTokens value of 70000 but the supported range is from 1 (inclusive) to 65536 (exclusive).',
  ],
  ['max-tokens-range', 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'],
  ['max-tokens-range', 'Range of max_tokens should be [1, 8192]'],
  ['max-tokens-less', '`max_tokens` must be less than or equal to `16384`, the maximum value'],
  ['max-tokens-less', 'max_tokens for `llama-x` must be less than or equal to 8000'],
  ['bedrock-output', 'The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower value.'],
  ['expected-at-most', 'integer above maximum value, expected a value <= 12288, but got 32000 instead'],
  ['configured-output', 'max_tokens cannot exceed the configured model output limit of 16384'],
  [
    'vllm-output-too-large',
    "'max_tokens' is too large: 64000. This model's maximum context length is 64001 tokens and your request has 24235 input tokens (64000 > 64001 - 24235).",
  ],
  ['anthropic-sum', 'input length and `max_tokens` exceed context limit: 143000 + 64000 > 200000, decrease input length'],
  ['together-sum', '`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` tokens and 4096 `max_new_tokens`'],
  [
    'vllm-at-least',
    "This model's maximum context length is 16384 tokens. However, you requested 8192 output tokens and your prompt contains at least 8193 input tokens, for a total",
  ],
  [
    'vllm-passed',
    "You passed 24235 input tokens and requested 64000 output tokens. However, the model's context length is only 64001 tokens",
  ],
  [
    'openrouter',
    "This endpoint's maximum context length is 262144 tokens. However, you requested about 284671 tokens (9351 of text input, 13176 of tool input, 262144 in the output).",
  ],
  [
    'openai-split',
    "This model's maximum context length is 8192 tokens. However, you requested 8256 tokens (64 in the messages, 8192 in the completion).",
  ],
  [
    'openai-split',
    'maximum context length is 8192 tokens. However, you requested 8213 tokens (6683 in the messages, 730 in the functions, and 800 in the completion)',
  ],
  [
    'sglang-sum',
    "exceeds the model's maximum context length of 64000 tokens. You requested a total of 71897 tokens: 7897 tokens from the input messages and 64000 tokens for the completion",
  ],
  ['openai-messages', "This model's maximum context length is 8192 tokens. However, your messages resulted in 204308 tokens."],
  ['openai-configured', 'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens.'],
  ['anthropic-prompt', 'prompt is too long: 208310 tokens > 200000 maximum'],
  ['gemini', 'The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).'],
  ['gemini', 'The input token count exceeds the maximum number of tokens allowed (1048576).'],
  ['xai', "This model's maximum prompt length is 131072 but the request contains 149617 tokens."],
  ['mistral', 'Prompt contains 40046 tokens and 0 draft tokens, too large for model with 32768 maximum context length'],
  ['sglang-longer', "The input (263000 tokens) is longer than the model's context length (262144 tokens)."],
  ['sglang-length', "Input length (265330) exceeds model's maximum context length (262144)."],
  ['poolside', 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.'],
  ['deepinfra', 'requested input length 70000 exceeds maximum input length 65536'],
  ['llamacpp', 'request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it'],
  ['lmstudio-keep', 'greater than the context length (n_keep: 10247 >= n_ctx: 4096). Try to load'],
  [
    'lmstudio-first',
    'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens',
  ],
  ['copilot', 'prompt token count of 131000 exceeds the limit of 128000'],
  ['kimi', 'Your request exceeded model token limit: 131072 (requested: 150000)'],
  ['bedrock-max-input', 'Too many input tokens. Max input tokens: 128000, request input token count: 140000'],
  ['bedrock-openai', 'prompt tokens (140000) exceed model maximum (131072)'],
  ['dashscope-input', 'Range of input length should be [1, 129024]'],
  ['configured-context', 'Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens'],
  ['cerebras', 'Current length is 9000 while limit is 8192'],
  ['lmstudio-reached', 'Reached context length of 32000 tokens with model (arch: gpt-oss)'],
];

const counterExamples = [
  'invalid params, context window exceeds limit (2013)',
  'Malformed input request: expected maxLength: 50000, actual: 52611',
  'Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 30601',
  'Rate limit reached: Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s.',
  'Too many tokens per day, please wait before trying again.',
  'max_tokens must be at least 1, got -186.',
  'string too long. Expected a string with maximum length 1048576, but got a string with length 1200000 instead.',
  'would exceed your rate limit of 40,000 input tokens per minute. Please reduce the prompt length',
  'Extra usage is required for long context requests.',
];

describe('size patterns', () => {
  it.each(texts)('%s alone reads %j', (name, text) => {
    expect(sizePatterns.filter((candidate) => candidate.regex.test(text)).map((candidate) => candidate.name)).toEqual([name]);
  });
  it.each(counterExamples)('no pattern reads %j', (text) => {
    expect(readSizes(text)).toBeUndefined();
  });
  it('covers every pattern with a text', () => {
    expect(new Set(texts.map(([name]) => name))).toEqual(new Set(sizePatterns.map((candidate) => candidate.name)));
  });
  it('leaves a comma behind a number alone', () => {
    expect(readSizes('exceed context limit: 143000 + 64000 > 200000, decrease')?.sizes.window).toBe(200_000);
  });
});
