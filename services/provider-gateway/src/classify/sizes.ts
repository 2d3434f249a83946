/** Sizes read from an error text. All in tokens. */
export interface Sizes {
  window?: number;
  inputMax?: number;
  outputMax?: number;
  input?: number;
  output?: number;
  /** `lower_bound`: the server stopped counting early. */
  inputExactness?: 'exact' | 'lower_bound';
}

export type SizeClass = 'output_cap' | 'sum' | 'overflow';

export interface SizeMatch {
  /** `sum`: input plus reserved output is too large; the input alone may still fit. */
  class: SizeClass;
  sizes: Sizes;
  pattern: string;
}

type Role = 'window' | 'inputMax' | 'outputMax' | 'input' | 'output' | 'total' | 'outputMaxPlusOne';

interface SizePattern {
  name: string;
  class: SizeClass;
  regex: RegExp;
  roles: readonly Role[];
  lowerBound?: boolean;
}

/** Digits with optional thousands separators; a following comma or full stop stays outside. */
const N = '(\\d{1,3}(?:,\\d{3})+(?!,?\\d)|\\d+)';

function pattern(name: string, sizeClass: SizeClass, source: string, roles: readonly Role[], lowerBound = false): SizePattern {
  return { name, class: sizeClass, regex: new RegExp(source.replaceAll('<N>', N), 'i'), roles, lowerBound };
}

/** Each text matches exactly one row (a test pins it); output caps stand before overflows because they name the output as subject. */
export const sizePatterns: readonly SizePattern[] = [
  pattern('at-most-completion', 'output_cap', 'supports at most <N> completion tokens', ['outputMax']),
  pattern('max-tokens-greater', 'output_cap', 'max_tokens: <N> > <N>, which is the maximum allowed number of output tokens', [
    'output',
    'outputMax',
  ]),
  pattern(
    'max-output-range',
    'output_cap',
    'maxOutputTokens value of <N> but the supported range is from 1 \\(inclusive\\) to <N> \\(exclusive\\)',
    ['output', 'outputMaxPlusOne'],
  ),
  pattern('max-tokens-range', 'output_cap', 'range of max_tokens (?:is|should be) \\[1, ?<N>\\]', ['outputMax']),
  pattern('max-tokens-less', 'output_cap', 'max_tokens`?(?: for `[^`]+`)? must be less than or equal to `?<N>', ['outputMax']),
  pattern('bedrock-output', 'output_cap', 'maximum tokens you requested exceeds the model limit of <N>', ['outputMax']),
  pattern('expected-at-most', 'output_cap', 'expected a value <= <N>, but got <N>', ['outputMax', 'output']),
  pattern('configured-output', 'output_cap', 'configured model output limit of <N>', ['outputMax']),
  pattern(
    'vllm-output-too-large',
    'sum',
    "is too large: <N>\\. This model's maximum context length is <N> tokens and your request has <N> input tokens",
    ['output', 'window', 'input'],
  ),
  pattern('anthropic-sum', 'sum', 'exceed context limit: <N> \\+ <N> > <N>', ['input', 'output', 'window']),
  pattern(
    'together-sum',
    'sum',
    '`inputs` tokens \\+ `max_new_tokens` must be <= <N>\\. Given: <N> `inputs` tokens and <N> `max_new_tokens`',
    ['window', 'input', 'output'],
  ),
  pattern(
    'vllm-at-least',
    'sum',
    'maximum context length is <N> tokens\\. However, you requested <N> output tokens and your prompt contains at least <N> input tokens',
    ['window', 'output', 'input'],
    true,
  ),
  pattern(
    'vllm-passed',
    'sum',
    "You passed <N> input tokens and requested <N> output tokens\\. However, the model's context length is only <N>",
    ['input', 'output', 'window'],
  ),
  pattern(
    'openrouter',
    'sum',
    "endpoint's maximum context length is <N> tokens\\. However, you requested about <N> tokens \\([^)]*?<N> in the output\\)",
    ['window', 'total', 'output'],
  ),
  pattern(
    'openai-split',
    'sum',
    'maximum context length is <N> tokens\\. However, you requested <N> tokens \\(\\d[\\d,]* in the messages,(?: \\d[\\d,]* in the functions,)?(?: and)? <N> in the completion\\)',
    ['window', 'total', 'output'],
  ),
  pattern(
    'sglang-sum',
    'sum',
    'maximum context length of <N> tokens\\. You requested a total of <N> tokens: <N> tokens from the input messages and <N> tokens for the completion',
    ['window', 'total', 'input', 'output'],
  ),
  pattern('openai-messages', 'overflow', 'maximum context length is <N> tokens\\. However, your messages resulted in <N>', [
    'window',
    'input',
  ]),
  pattern('openai-configured', 'overflow', 'exceed the configured limit of <N> tokens\\. Your messages resulted in <N>', [
    'inputMax',
    'input',
  ]),
  pattern('anthropic-prompt', 'overflow', 'prompt is too long: <N> tokens > <N> maximum', ['input', 'inputMax']),
  pattern('gemini', 'overflow', 'input token count(?: \\(<N>\\))? exceeds the maximum number of tokens allowed \\(<N>\\)', [
    'input',
    'inputMax',
  ]),
  pattern('xai', 'overflow', 'maximum prompt length is <N> but the request contains <N>', ['inputMax', 'input']),
  pattern('mistral', 'overflow', 'Prompt contains <N> tokens.*?too large for model with <N> maximum context length', [
    'input',
    'window',
  ]),
  pattern('sglang-longer', 'overflow', "input \\(<N> tokens\\) is longer than the model's context length \\(<N> tokens\\)", [
    'input',
    'window',
  ]),
  pattern('sglang-length', 'overflow', "Input length \\(?<N>\\)? exceeds (?:the )?(?:model's )?maximum context length \\(?<N>", [
    'input',
    'window',
  ]),
  pattern('poolside', 'overflow', 'Input length \\(?<N>\\)? exceeds (?:the )?maximum allowed input length(?: of)? \\(?<N>', [
    'input',
    'inputMax',
  ]),
  pattern('deepinfra', 'overflow', 'requested input length <N> exceeds maximum input length \\(?<N>', ['input', 'inputMax']),
  pattern('llamacpp', 'overflow', 'request \\(<N> tokens\\) exceeds the available context size \\(<N> tokens\\)', [
    'input',
    'window',
  ]),
  pattern('lmstudio-keep', 'overflow', 'n_keep: <N> >= n_ctx: <N>', ['input', 'window']),
  pattern('lmstudio-first', 'overflow', 'keep the first <N> tokens.*?context length of only <N>', ['input', 'window']),
  pattern('copilot', 'overflow', 'prompt token count of <N> exceeds the limit of <N>', ['input', 'inputMax']),
  pattern('kimi', 'overflow', 'exceeded model token limit: <N> \\(requested: <N>\\)', ['window', 'total']),
  pattern('bedrock-max-input', 'overflow', 'Max input tokens: <N>, request input token count: <N>', ['inputMax', 'input']),
  pattern('bedrock-openai', 'overflow', 'prompt tokens \\(<N>\\) exceed model maximum \\(<N>\\)', ['input', 'inputMax']),
  pattern('dashscope-input', 'overflow', 'Range of input length should be \\[1, ?<N>\\]', ['inputMax']),
  pattern('configured-context', 'overflow', 'Prompt has <N> tokens, but the configured context size is <N>', ['input', 'window']),
  pattern('cerebras', 'overflow', 'Current length is <N> while limit is <N>', ['input', 'window']),
  pattern('lmstudio-reached', 'overflow', 'Reached context length of <N> tokens with model', ['window']),
];

/** The one pattern that the text matches, with its numbers; undefined when none does. */
export function readSizes(text: string): SizeMatch | undefined {
  for (const candidate of sizePatterns) {
    const match = candidate.regex.exec(text);
    if (match) return { class: candidate.class, sizes: sizesOf(candidate, match.slice(1)), pattern: candidate.name };
  }
  return undefined;
}

function sizesOf(candidate: SizePattern, groups: readonly (string | undefined)[]): Sizes {
  const found = new Map<Role, number>();
  candidate.roles.forEach((role, index) => {
    const digits = groups[index];
    if (digits !== undefined) found.set(role, Number(digits.replaceAll(',', '')));
  });
  const sizes: Sizes = {};
  for (const role of ['window', 'inputMax', 'outputMax', 'input', 'output'] as const) {
    const value = found.get(role);
    if (value !== undefined) sizes[role] = value;
  }
  const exclusive = found.get('outputMaxPlusOne');
  if (exclusive !== undefined) sizes.outputMax = exclusive - 1;
  const total = found.get('total');
  if (total !== undefined && sizes.input === undefined) sizes.input = total - (sizes.output ?? 0);
  if (sizes.input !== undefined) sizes.inputExactness = candidate.lowerBound ? 'lower_bound' : 'exact';
  return sizes;
}
