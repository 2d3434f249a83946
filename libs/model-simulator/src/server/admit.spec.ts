import { serverModel } from '../config/server-spec';
import type { FormatName } from '../config/model-spec';
import type { WireRequest } from '../formats/format';
import { anthropicFormat } from '../formats/anthropic/anthropic';
import { openAiChatFormat } from '../formats/openai-chat/openai-chat';
import { Refusal } from '../vendors/problem';
import type { VendorName } from '../vendors/vendor-names';
import { vendors } from '../vendors/vendors';
import { admit } from './admit';

interface Case {
  /** Tokens per message. */
  readonly sizes: number[];
  readonly requested?: number;
  readonly window?: number;
  readonly vendor?: VendorName;
  readonly format?: FormatName;
  readonly settings?: object;
  readonly request?: Partial<WireRequest>;
}

function judge({
  sizes,
  requested,
  window = 10_000,
  vendor = 'openai',
  format = 'openai-chat',
  settings = {},
  request = {},
}: Case): unknown {
  let total = 0;
  const cumulative = sizes.map((size) => (total += size));
  const wire: WireRequest = {
    conversation: { model: 'm', system: '', tools: [], turns: [] },
    segments: sizes.map(() => ({ text: '', images: 0, message: true, cacheMark: false })),
    stream: false,
    includeUsage: false,
    endsWithAssistant: false,
    ...(requested === undefined ? {} : { requestedOutput: requested }),
    ...request,
  };
  const spec = serverModel.parse({ outputMax: 4_000, window, ...settings });
  try {
    return admit(
      wire,
      { total, cumulative, tools: 0 },
      spec,
      window,
      vendors[vendor],
      format === 'anthropic' ? anthropicFormat : openAiChatFormat,
    );
  } catch (error) {
    if (error instanceof Refusal) return error.problem.kind;
    throw error;
  }
}

describe('what fits the window', () => {
  it.each<[string, Case, unknown]>([
    [
      'input and output together, exactly',
      { sizes: [6_000], requested: 4_000 },
      { limit: 4_000, limitedByWindow: false, input: 6_000 },
    ],
    ['one token more is refused', { sizes: [6_001], requested: 4_000 }, 'overflow'],
    [
      'without a requested output, the window itself limits it',
      { sizes: [9_000] },
      { limit: 1_000, limitedByWindow: true, input: 9_000 },
    ],
    ['a default output is reserved where the model has one', { sizes: [9_000], settings: { outputDefault: 2_000 } }, 'overflow'],
    ['an output above the cap is told first', { sizes: [9_999], requested: 4_001 }, 'output_cap'],
    [
      'a local engine stops at the wall instead',
      { sizes: [9_000], requested: 4_000, vendor: 'llamacpp' },
      { limit: 1_000, limitedByWindow: true, input: 9_000 },
    ],
    ['vLLM has no cap of its own but refuses the sum', { sizes: [5_000], requested: 6_000, vendor: 'vllm' }, 'overflow'],
    ['an input limit below the window', { sizes: [8_000], settings: { inputMax: 7_999 } }, 'overflow'],
    [
      'newer Anthropic models stop at the window',
      { sizes: [9_000], requested: 4_000, vendor: 'anthropic', format: 'anthropic', settings: { windowStop: true } },
      { limit: 1_000, limitedByWindow: true, input: 9_000 },
    ],
    ['older ones refuse', { sizes: [9_000], requested: 4_000, vendor: 'anthropic', format: 'anthropic' }, 'overflow'],
    [
      'Ollama drops the oldest messages in silence',
      { sizes: [5_000, 4_000, 3_000], vendor: 'ollama' },
      { limit: 3_000, limitedByWindow: true, input: 7_000 },
    ],
    [
      'and halves the window for one message that is too long',
      { sizes: [12_000], window: 4_096, vendor: 'ollama' },
      { limit: 2_046, limitedByWindow: true, input: 2_050 },
    ],
    ['unless the request forbids it', { sizes: [12_000], vendor: 'ollama', request: { truncate: false } }, 'overflow'],
    [
      'Responses truncate when asked',
      { sizes: [5_000, 8_000], request: { truncate: true } },
      { limit: 2_000, limitedByWindow: true, input: 8_000 },
    ],
  ])('%s', (_title, given, expected) => {
    expect(judge(given)).toEqual(expected);
  });
});
