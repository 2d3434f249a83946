import type { FormatName } from '../config/model-spec';
import type { Problem } from './problem';
import { vendorNames, type VendorName } from './vendor-names';
import { vendors } from './vendors';

const nowMs = Date.parse('2026-03-05T10:00:00Z');
const overflow: Problem = { kind: 'overflow', input: 12_000, output: 4_096, window: 10_000, tools: 500 };
const cap: Problem = { kind: 'output_cap', requested: 20_000, cap: 8_192, input: 1_200, window: 10_000 };

function refuse(
  vendor: VendorName,
  problem: Problem,
  format: FormatName = vendor === 'anthropic' ? 'anthropic' : 'openai-chat',
): [number, string] {
  const { status, body } = vendors[vendor].refuse(problem, { model: 'm-1', format, requestId: 'req_1', nowMs });
  return [status, JSON.stringify(body)];
}

describe("a vendor's refusal", () => {
  const texts: Record<VendorName, string> = {
    anthropic: 'prompt is too long: 12000 tokens > 10000 maximum',
    openai:
      "This model's maximum context length is 10000 tokens. However, you requested 16096 tokens (11500 in the messages, 500 in the functions, and 4096 in the completion).",
    codex: "This model's maximum context length is 10000 tokens.",
    azure: "This model's maximum context length is 10000 tokens.",
    gemini: 'The input token count (12000) exceeds the maximum number of tokens allowed (10000).',
    'gemini-compat': 'The input token count (12000) exceeds the maximum number of tokens allowed (10000).',
    grok: "This model's maximum prompt length is 10000 but the request contains 12000 tokens.",
    minimax: 'invalid params, context window exceeds limit (2013)',
    mistral: 'Prompt contains 12000 tokens and 0 draft tokens, too large for model with 10000 maximum context length',
    deepseek:
      "This model's maximum context length is 10000 tokens. However, you requested 16096 tokens (12000 in the messages, 4096 in the completion).",
    groq: 'Please reduce the length of the messages or completion.',
    together: '`inputs` tokens + `max_new_tokens` must be <= 10000. Given: 12000 `inputs` tokens and 4096 `max_new_tokens`',
    openrouter:
      "This endpoint's maximum context length is 10000 tokens. However, you requested about 16096 tokens (11500 of text input, 500 of tool input, 4096 in the output).",
    bedrock: 'Too many input tokens. Max input tokens: 10000, request input token count: 12000',
    litellm: 'litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - ',
    vllm: "This model's maximum context length is 10000 tokens. However, you requested 4096 output tokens and your prompt contains at least 5905 input tokens, for a total of at least 10001 tokens.",
    sglang: "The input (12000 tokens) is longer than the model's context length (10000 tokens).",
    llamacpp: 'request (12000 tokens) exceeds the available context size (10000 tokens), try increasing it',
    lmstudio: '(n_keep: 12000 >= n_ctx: 10000)',
    ollama: 'the prompt is longer than the context length currently available to the model',
  };
  it.each(vendorNames)('tells an overflow in the words of %s', (vendor) => {
    expect(refuse(vendor, overflow)).toEqual([400, expect.stringContaining(texts[vendor])]);
  });

  it.each<[VendorName, string]>([
    ['anthropic', 'max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens for m-1'],
    ['openai', 'max_tokens is too large: 20000. This model supports at most 8192 completion tokens, whereas you provided 20000.'],
    ['gemini', 'maxOutputTokens value of 20000 but the supported range is from 1 (inclusive) to 8193 (exclusive).'],
    ['deepseek', 'the valid range of max_tokens is [1, 8192]'],
    ['groq', '`max_tokens` must be less than or equal to `8192`'],
    ['bedrock', 'The maximum tokens you requested exceeds the model limit of 8192.'],
    ['vllm', '(20000 > 10000 - 1200)'],
  ])('names the output cap in the words of %s', (vendor, text) => {
    expect(refuse(vendor, cap)).toEqual([400, expect.stringContaining(text)]);
  });

  it.each<[string, VendorName, Problem, FormatName, number, string]>([
    [
      'only the sum is too large',
      'anthropic',
      { ...overflow, input: 8_000 },
      'anthropic',
      400,
      'exceed context limit: 8000 + 4096 > 10000',
    ],
    [
      'only the sum is too large',
      'sglang',
      { ...overflow, input: 8_000 },
      'openai-chat',
      400,
      'You requested a total of 12096 tokens: 8000 tokens from the input messages and 4096 tokens for the completion',
    ],
    [
      'the input limit of a model',
      'openai',
      { ...overflow, inputMax: 9_000 },
      'openai-chat',
      400,
      'Input tokens exceed the configured limit of 9000 tokens. Your messages resulted in 12000 tokens.',
    ],
    [
      'Responses names no numbers',
      'openai',
      overflow,
      'openai-responses',
      400,
      'Your input exceeds the context window of this model.',
    ],
    ['a quota under the status of a rate limit', 'openai', { kind: 'quota' }, 'openai-chat', 429, '"code":"insufficient_quota"'],
    [
      'a spend limit without a hint',
      'anthropic',
      { kind: 'quota' },
      'anthropic',
      429,
      '"error_code":"enforced_spend_limit_reached"',
    ],
    [
      'a plan that is used up',
      'codex',
      { kind: 'quota', resetsInSeconds: 60 },
      'openai-responses',
      429,
      `"resets_at":${nowMs / 1000 + 60},"resets_in_seconds":60`,
    ],
    ['a day to wait', 'azure', { kind: 'quota' }, 'openai-chat', 429, 'Please retry after 86400 seconds.'],
    ['a daily quota with a short delay', 'gemini', { kind: 'quota' }, 'openai-chat', 429, 'PerDay'],
    ['used-up credits under 429', 'grok', { kind: 'quota' }, 'openai-chat', 429, 'used all available credits'],
    ['the same under 403', 'grok', { kind: 'quota' }, 'openai-responses', 403, 'used all available credits'],
    [
      'a request above the bucket',
      'groq',
      { kind: 'request_ceiling', limit: 12_000, requested: 14_137 },
      'openai-chat',
      413,
      'Limit 12000, Requested 14137',
    ],
    [
      'an entitlement',
      'anthropic',
      { kind: 'request_ceiling', limit: 1, requested: 2 },
      'anthropic',
      429,
      'Extra usage is required for long context requests.',
    ],
    ['capacity with a misleading type', 'mistral', { kind: 'overloaded' }, 'openai-chat', 429, '"type":"invalid_request_error"'],
    ['an overload', 'anthropic', { kind: 'overloaded' }, 'anthropic', 529, '"type":"overloaded_error"'],
    [
      'a full queue, two blanks',
      'ollama',
      { kind: 'overloaded' },
      'ollama',
      503,
      'server busy, please try again.  maximum pending requests exceeded',
    ],
    ['an unknown model', 'openai', { kind: 'model_not_found' }, 'openai-chat', 404, 'The model `m-1` does not exist'],
    [
      'a refused prefill',
      'anthropic',
      { kind: 'prefill_refused' },
      'anthropic',
      400,
      'does not support assistant message prefill',
    ],
  ])('%s (%s)', (_title, vendor, problem, format, status, text) => {
    expect(refuse(vendor, problem, format)).toEqual([status, expect.stringContaining(text)]);
  });

  it('the compatible route of Gemini wraps its whole body into a list, with a number as code', () => {
    expect(JSON.parse(refuse('gemini-compat', overflow)[1])).toEqual([
      { error: expect.objectContaining({ code: 400, status: 'INVALID_ARGUMENT' }) as unknown },
    ]);
  });

  it('every vendor has an answer to every problem', () => {
    const problems: Problem[] = [
      overflow,
      cap,
      { kind: 'rate_limit', hint: { form: 'seconds', seconds: 2 } },
      { kind: 'quota' },
      { kind: 'request_ceiling', limit: 1, requested: 2 },
      ...(
        [
          'billing',
          'server_error',
          'unavailable',
          'overloaded',
          'gateway_timeout',
          'auth',
          'permission',
          'model_not_found',
          'content_filter',
          'prefill_refused',
        ] as const
      ).map((kind) => ({ kind })),
      { kind: 'too_large', bytes: 2, limit: 1 },
      { kind: 'invalid', message: 'no' },
    ];
    const statuses = vendorNames.flatMap((vendor) => problems.map((problem) => refuse(vendor, problem)[0]));
    expect(statuses.filter((status) => status < 400 || status > 599)).toEqual([]);
  });
});
