import { z } from 'zod';
import { errorClasses } from '../classify/error-class';
import { vendorNames } from '../vendors/rows';

/** The format of a conformance case; docs/gateway-conformance.md explains it field by field. */
const step = z.union([
  z.strictObject({ wait_ms: z.number().int().min(0) }),
  z.strictObject({ write: z.string() }),
  /** Server-sent events; a string is sent as it is, an object as JSON, named after its `type`. */
  z.strictObject({ sse: z.array(z.union([z.string(), z.record(z.string(), z.unknown())])) }),
  z.strictObject({ ndjson: z.array(z.record(z.string(), z.unknown())) }),
  /** So many text deltas in the format of the provider. */
  z.strictObject({ deltas: z.number().int().positive() }),
  z.strictObject({ cut: z.literal(true) }),
  z.strictObject({ hang: z.literal(true) }),
]);

const answer = z.union([
  /** A whole good answer in the provider's own format. */
  z.strictObject({ good: z.string(), usage: z.record(z.string(), z.unknown()).optional() }),
  z.strictObject({ connection: z.enum(['reset', 'silent']) }),
  z.strictObject({
    status: z.number().int().min(100).max(599).default(200),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.unknown().optional(),
    steps: z.array(step).optional(),
  }),
]);
export type CaseAnswer = z.output<typeof answer>;
export type CaseStep = z.output<typeof step>;

const upstream = z.strictObject({
  vendor: z.enum(vendorNames).default('openai-compatible'),
  model: z.string().default('model'),
  /** What the registry believes; 0 = unknown. */
  window: z.number().int().min(0).default(0),
  output_max: z.number().int().min(0).default(0),
  max_concurrency: z.number().int().positive().optional(),
  clocks: z.record(z.string(), z.number()).default({}),
  /** The n-th attempt gets the n-th answer; the last one repeats. */
  answers: z.array(answer).min(1),
});

const request = z.strictObject({
  text: z.string().default('hello'),
  /** Ends the view with an assistant message of this text. */
  prefill: z.string().optional(),
  max_output_tokens: z.number().int().min(0).default(0),
  measured: z.number().int().min(0).default(100),
  estimated: z.number().int().min(0).default(0),
  enforce_threshold: z.boolean().default(false),
  chain_position: z.number().int().min(0).default(0),
  /** The caller goes away after this many milliseconds. */
  abort_after_ms: z.number().int().positive().optional(),
  unstreamed: z.boolean().default(false),
});

const expectedAttempt = z.strictObject({
  provider: z.number().int().min(0),
  class: z.enum(['ok', ...errorClasses]),
  wait_ms: z.number().int().optional(),
  max_output: z.number().int().optional(),
  billed: z.strictObject({ input: z.number().int(), output: z.number().int() }).optional(),
});

const expected = z.strictObject({
  terminal: z.enum(['finished', 'failed']).optional(),
  code: z.string().optional(),
  /** Class of the last attempt. */
  class: z.enum(['ok', ...errorClasses]).optional(),
  /** Row of the table that decided the last attempt. */
  rule: z.string().optional(),
  /** All of the sizes read from the last failure, no more and no fewer. */
  numbers: z.record(z.string(), z.union([z.number(), z.string()])).optional(),
  retry_after_ms: z.number().int().nullable().optional(),
  attempts: z.array(expectedAttempt).optional(),
  text: z.string().optional(),
  stop: z.string().optional(),
  usage: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])).optional(),
  observed: z
    .array(z.strictObject({ kind: z.enum(['window', 'input_max', 'output_max', 'accepted']), tokens: z.number().int() }))
    .optional(),
  breaker: z.array(z.strictObject({ provider: z.number().int(), state: z.enum(['closed', 'open', 'half_open']) })).optional(),
  message_contains: z.string().optional(),
  chain_position: z.number().int().optional(),
  within_ms: z.number().int().positive().optional(),
});
export type CaseExpectation = z.output<typeof expected>;

const call = z.strictObject({
  request: request.default(request.parse({})),
  expect: expected,
  repeat: z.number().int().positive().default(1),
});

export const caseSchema = z
  .strictObject({
    name: z.string().min(1),
    /** Where the fact comes from, for the reader. */
    source: z.string().default(''),
    upstreams: z.array(upstream).min(1).optional(),
    /** Short for one upstream. */
    vendor: z.enum(vendorNames).optional(),
    answers: z.array(answer).min(1).optional(),
    request: request.optional(),
    expect: expected.optional(),
    /** Several calls one after the other, on the same breakers. */
    calls: z.array(call).min(1).optional(),
    /** Calls that start at the same time. */
    parallel: z.boolean().default(false),
    /** Milliseconds that pass between the calls. */
    pause_ms: z.number().int().min(0).default(0),
  })
  .check((ctx) => {
    const { upstreams, answers, calls, expect } = ctx.value;
    if ((upstreams === undefined) === (answers === undefined))
      ctx.issues.push({ code: 'custom', input: ctx.value, message: 'expected either upstreams or answers' });
    if ((calls === undefined) === (expect === undefined))
      ctx.issues.push({ code: 'custom', input: ctx.value, message: 'expected either calls or expect' });
  })
  .transform((given) => ({
    ...given,
    upstreams: given.upstreams ?? [upstream.parse({ vendor: given.vendor ?? 'openai-compatible', answers: given.answers })],
    calls: given.calls ?? [call.parse({ request: given.request ?? {}, expect: given.expect })],
  }));
export type ConformanceCase = z.output<typeof caseSchema>;
export type CaseCall = ConformanceCase['calls'][number];
export type CaseUpstream = ConformanceCase['upstreams'][number];

/** A file holds one case or a list of them. */
export const caseFile = z.union([z.array(z.unknown()), z.record(z.string(), z.unknown()).transform((one) => [one as unknown])]);
