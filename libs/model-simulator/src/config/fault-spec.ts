import { z } from 'zod';

/** Every form in which a vendor tells how long to wait, the broken ones included. */
export const hintForms = [
  'seconds',
  'decimal',
  'date',
  'date_rfc850',
  'date_asctime',
  'ms',
  'vendor_ms',
  'duration',
  'rfc3339',
  'retry_delay',
  'resets_in_seconds',
  'resets_at',
  'text_try_again',
  'text_retry_after',
  'none',
  'negative',
  'fraction',
  'junk',
  'past_date',
] as const;
export type HintForm = (typeof hintForms)[number];

const hint = z.strictObject({ form: z.enum(hintForms).default('seconds'), seconds: z.number().min(0).default(2) });

const afterDeltas = z.number().int().min(0).default(1);

/** What goes wrong. Times in milliseconds. */
export const faultAction = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('rate_limit'), hint: hint.optional() }),
  z.strictObject({ kind: z.literal('quota'), resetsInSeconds: z.number().optional() }),
  z.strictObject({ kind: z.literal('request_ceiling'), limit: z.number().int().default(30_000) }),
  z.strictObject({ kind: z.literal('billing') }),
  z.strictObject({ kind: z.literal('server_error') }),
  z.strictObject({ kind: z.literal('unavailable'), hint: hint.optional() }),
  z.strictObject({ kind: z.literal('overloaded') }),
  z.strictObject({ kind: z.literal('gateway_timeout') }),
  z.strictObject({ kind: z.literal('auth') }),
  z.strictObject({ kind: z.literal('permission') }),
  z.strictObject({ kind: z.literal('model_not_found') }),
  z.strictObject({ kind: z.literal('content_filter') }),
  z.strictObject({ kind: z.literal('prefill_refused') }),
  z.strictObject({ kind: z.literal('overflow'), window: z.number().int().optional(), text: z.string().optional() }),
  z.strictObject({ kind: z.literal('output_cap'), cap: z.number().int() }),
  /** Any status with any body: for error texts that are not in the vendor table. */
  z.strictObject({
    kind: z.literal('http'),
    status: z.number().int().min(100).max(599),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.unknown(),
  }),
  /** The connection is reset before a byte of the answer. */
  z.strictObject({ kind: z.literal('reset') }),
  /** The request is read and never answered. */
  z.strictObject({ kind: z.literal('no_response') }),
  z.strictObject({ kind: z.literal('slow_first_token'), ms: z.number().int().default(20_000) }),
  /** Status and headers at once, then nothing. */
  z.strictObject({ kind: z.literal('headers_only') }),
  /** The socket is destroyed after so many deltas. */
  z.strictObject({ kind: z.literal('cut'), afterDeltas }),
  /** The body ends in an orderly way after so many deltas, without any end marker. */
  z.strictObject({ kind: z.literal('early_end'), afterDeltas }),
  z.strictObject({ kind: z.literal('stall'), afterDeltas, ms: z.number().int().default(30_000) }),
  z.strictObject({ kind: z.literal('malformed_chunk'), afterDeltas }),
  /** Everything but the last frame ([DONE], message_stop, response.completed, done:true). */
  z.strictObject({ kind: z.literal('no_terminator') }),
  /** An error in the vendor's in-stream form under status 200; with afterDeltas 0 nothing of the answer is sent before it. */
  z.strictObject({
    kind: z.literal('error_in_200'),
    afterDeltas: z.number().int().min(0).default(0),
    /** Responses: a failed response, or a bare error event. */
    form: z.enum(['default', 'error_event']).default('default'),
    as: z.enum(['overloaded', 'server_error', 'rate_limit', 'quota', 'overflow', 'type_message']).default('overloaded'),
  }),
  /** A bare JSON object behind the frames, as some proxies write it. */
  z.strictObject({ kind: z.literal('raw_json_tail'), afterDeltas }),
  z.strictObject({ kind: z.literal('empty_stream') }),
  z.strictObject({ kind: z.literal('empty_text') }),
  z.strictObject({ kind: z.literal('only_reasoning') }),
  z.strictObject({ kind: z.literal('filtered_stop') }),
  z.strictObject({ kind: z.literal('length_zero_output') }),
  z.strictObject({ kind: z.literal('no_usage') }),
  z.strictObject({ kind: z.literal('null_usage_chunks') }),
  /** Usage as if the server had cut the prompt to its real window. */
  z.strictObject({ kind: z.literal('silent_truncation'), servedTokens: z.number().int() }),
]);
export type FaultAction = z.infer<typeof faultAction>;

/** When it goes wrong. All conditions given must hold. */
export const faultCondition = z.strictObject({
  /** Number of the request for this model, from 1. */
  request: z.union([z.number().int().min(1), z.array(z.number().int().min(1))]).optional(),
  requestsFrom: z.number().int().min(1).optional(),
  requestsThrough: z.number().int().min(1).optional(),
  /** Input tokens as this server counts them. */
  inputAbove: z.number().int().optional(),
  inputBelow: z.number().int().optional(),
  stream: z.boolean().optional(),
  /** The request asks for a summary. */
  summary: z.boolean().optional(),
  /** So many summaries were asked of this model before: "once it was compacted twice". */
  afterSummaries: z.number().int().min(1).optional(),
  /** A text that occurs in the raw request. */
  contains: z.string().optional(),
  probability: z.number().min(0).max(1).optional(),
  /** Down for `downMs`, then up for `upMs`, from the start of the server. */
  flapping: z.strictObject({ downMs: z.number().int().min(1), upMs: z.number().int().min(1) }).optional(),
});
export type FaultCondition = z.infer<typeof faultCondition>;

export const faultSpec = z.strictObject({
  /** For the log; by default the kind. */
  name: z.string().optional(),
  when: faultCondition.default({}),
  /** How often it applies at most. */
  times: z.union([z.number().int().min(1), z.literal('always')]).default(1),
  action: faultAction,
});
export type FaultSpec = z.infer<typeof faultSpec>;
