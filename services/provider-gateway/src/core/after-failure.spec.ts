import type { Classified } from '../classify/classify';
import { classify } from '../classify/classify';
import { afterFailure, type NextStep, type Situation } from './after-failure';

function failure(status: number, message: string, extra: object = {}, headers: Record<string, string> = {}): Classified {
  return classify({ status, headers, text: JSON.stringify({ error: { message, ...extra } }), inBand: false }, 0);
}

function situation(over: Partial<Situation> & { failure: Classified }): Situation {
  return {
    contentShown: false,
    tries: 1,
    waitedMs: 0,
    outputRepaired: false,
    reasoningDropped: false,
    outputSent: 8_192,
    outputMandatory: false,
    measured: 1_000,
    hasNext: true,
    leftMs: 60_000,
    random: 0.5,
    ...over,
  };
}

const server = failure(500, 'boom');
const deepSeek = 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]';
const vllm =
  "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001";

describe('what follows a failed attempt', () => {
  it.each<[string, Situation, NextStep]>([
    [
      'a server error is tried again after a jittered pause',
      situation({ failure: server }),
      { do: 'retry', waitMs: 250, why: 'server' },
    ],
    ['after two tries the next candidate is asked', situation({ failure: server, tries: 2 }), { do: 'next', why: 'server' }],
    [
      'after three tries without a next candidate the call fails',
      situation({ failure: server, tries: 3, hasNext: false }),
      { do: 'fail' },
    ],
    ['nothing is repeated once content was shown', situation({ failure: server, contentShown: true }), { do: 'fail' }],
    [
      'a short waiting hint is obeyed to the millisecond',
      situation({ failure: failure(429, 'slow down', {}, { 'retry-after': '2' }) }),
      { do: 'retry', waitMs: 2_000, why: 'rate_limit' },
    ],
    [
      'a waiting hint beyond the budget moves on at once',
      situation({ failure: failure(429, 'slow down', {}, { 'retry-after': '30' }) }),
      { do: 'next', why: 'rate_limit' },
    ],
    [
      'hints add up against the budget',
      situation({ failure: failure(429, 'slow down', {}, { 'retry-after': '2' }), tries: 2, waitedMs: 4_000, hasNext: false }),
      { do: 'fail' },
    ],
    [
      'a spent quota is never waited for',
      situation({ failure: failure(429, 'x', { code: 'insufficient_quota' }) }),
      { do: 'next', why: 'quota' },
    ],
    [
      'an output cap lowers the output of the same request',
      situation({ failure: failure(400, deepSeek), outputSent: 32_000 }),
      { do: 'repair_output', maxOutput: 8_192, why: 'output_cap' },
    ],
    [
      'an output cap is repaired once only',
      situation({ failure: failure(400, deepSeek), outputSent: 8_192, outputRepaired: true }),
      { do: 'fail' },
    ],
    [
      'a sum that is too large is repaired by what the window leaves, with a margin for a lower bound',
      situation({ failure: failure(400, vllm), outputSent: 65_535, measured: 63_000 }),
      { do: 'repair_output', maxOutput: 128_000 - 63_000 - 1_260, why: 'overflow' },
    ],
    [
      'an input that fills the window is an overflow in place, whatever candidates are left',
      situation({ failure: failure(400, 'prompt is too long: 208310 tokens > 200000 maximum') }),
      { do: 'fail' },
    ],
    [
      'a request ceiling is not waited for',
      situation({
        failure: failure(429, 'Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 30601.', {
          code: 'rate_limit_exceeded',
        }),
      }),
      { do: 'next', why: 'request_ceiling' },
    ],
    [
      'a refused signature costs the reasoning blocks, once',
      situation({ failure: failure(400, 'messages.1.content.0: Invalid `signature` in `thinking` block') }),
      { do: 'drop_reasoning', why: 'signature refused' },
    ],
    ['a content filter is final', situation({ failure: failure(400, 'x', { code: 'content_filter' }) }), { do: 'fail' }],
    ['no wait reaches beyond the deadline', situation({ failure: server, leftMs: 100, hasNext: false }), { do: 'fail' }],
  ])('%s', (_title, given, expected) => {
    expect(afterFailure(given)).toEqual(expected);
  });
});
