import type { transcript } from '@nightshift/contracts';
import { transcript as transcripts } from '@nightshift/contracts';
import { classify, type Classified, type Failure } from '../classify/classify';
import { parseJson, type Json } from '../classify/json';
import type { AnswerEvent } from '../formats/format';
import type { Provider } from '../providers/provider';
import { Exchange } from '../transport/exchange';
import { TransportFault } from '../transport/fault';
import type { HttpClient } from '../transport/http-client';
import { usageOf } from '../usage/normal-usage';
import type { UsageNumbers } from '../usage/normal-usage';
import type { JsonObject } from '../classify/json';
import { AnswerDraft } from './answer';

export interface AttemptPlan {
  provider: Provider;
  body: string;
  stream: boolean;
  signal: AbortSignal;
  /** The caller's estimate of the input, for attempts that end without a report. */
  estimatedInput: number;
  /** Milliseconds until the deadline of the whole call. */
  leftMs: number;
}

export interface AttemptResult {
  /** Absent = the answer is complete. */
  failure?: Classified;
  draft: AnswerDraft;
  usage: transcript.Usage;
  startedAt: number;
  endedAt: number;
  firstContentAt: number;
  lastByteAt: number;
  closedAt: number;
  status: number;
}

/** Pieces that a caller may show, while they come; returns how the attempt ended. Never throws. */
export async function* runAttempt(
  plan: AttemptPlan,
  client: HttpClient,
  now: () => number,
): AsyncGenerator<AnswerEvent, AttemptResult, undefined> {
  const { format, target } = plan.provider;
  const clocks = { ...plan.provider.clocks, total: Math.max(1, Math.min(plan.provider.clocks.total, plan.leftMs)) };
  const exchange = new Exchange(client, clocks, plan.signal);
  const draft = new AnswerDraft();
  let firstContentAt = 0;
  let report: { numbers: UsageNumbers; raw: JsonObject } = { numbers: {}, raw: {} };
  let failure: Failure | undefined;

  try {
    await format.call(target, plan.body, exchange);
    if (exchange.status < 200 || exchange.status >= 300) {
      failure = { status: exchange.status, headers: exchange.headers, text: exchange.errorText, inBand: false };
    } else {
      const source =
        plan.stream && !isOneBody(exchange)
          ? streamed(plan, exchange, (r) => (report = r))
          : oneBody(plan, exchange, (r) => (report = r));
      for await (const event of source) {
        if (event.kind === 'error' || event.kind === 'malformed') {
          failure = inBandFailure(exchange, event);
          break;
        }
        if (draft.add(event)) {
          firstContentAt ||= now();
          exchange.contentSeen();
          yield event;
        }
        if (draft.ended) break;
      }
    }
  } catch (error) {
    const fault =
      error instanceof TransportFault ? error : exchange.fail(new TransportFault('unreadable', String(error), { cause: error }));
    // The finish reason was there: what is missing is the end marker only, and a server that then hangs is no failure.
    if (draft.stop === undefined || fault.kind === 'aborted')
      failure = { status: exchange.status, headers: exchange.headers, text: '', inBand: false, fault };
    else draft.ended = true;
  } finally {
    exchange.finish();
  }

  const endedAt = now();
  failure ??= missingEnd(draft, exchange);
  const complete = failure === undefined;
  return {
    ...(failure ? { failure: classify(failure, endedAt, target.quirks.emptyBodyMeansOverflow) } : {}),
    draft,
    usage: usageOf(report.numbers, report.raw, complete, {
      input: spent(exchange) ? plan.estimatedInput : 0,
      output: draft.characters > 0 ? Math.ceil(draft.characters / 4) : 0,
    }),
    startedAt: exchange.startedAt,
    endedAt,
    firstContentAt,
    lastByteAt: exchange.lastByteAt,
    closedAt: exchange.closedAt,
    status: exchange.status,
  };
}

/**
 * May this attempt have cost its input? A refused request costs nothing; one that was answered with 200, or given up while
 * the server worked on it, is billed by most providers.
 */
function spent(exchange: Exchange): boolean {
  if (exchange.status !== 0) return exchange.status >= 200 && exchange.status < 300;
  return (
    exchange.sent &&
    (exchange.fault?.kind === 'aborted' || exchange.fault?.kind === 'headers_timeout' || exchange.fault?.kind === 'total_timeout')
  );
}

/** Some servers answer a streamed request with one JSON body, usually an error. */
function isOneBody(exchange: Exchange): boolean {
  return /^application\/json/i.test(exchange.headers['content-type'] ?? '');
}

type Report = (report: { numbers: UsageNumbers; raw: JsonObject }) => void;

async function* streamed(plan: AttemptPlan, exchange: Exchange, report: Report): AsyncGenerator<AnswerEvent, void, undefined> {
  const reader = plan.provider.format.frames();
  const decoder = plan.provider.format.decoder();
  try {
    for await (const piece of exchange.pieces()) {
      for (const frame of reader.feed(piece)) yield* decoder.push(frame);
    }
    for (const frame of reader.end()) yield* decoder.push(frame);
    yield* decoder.finish();
  } finally {
    report(decoder.usage());
  }
}

async function* oneBody(plan: AttemptPlan, exchange: Exchange, report: Report): AsyncGenerator<AnswerEvent, void, undefined> {
  const text = await exchange.text();
  const body = parseJson(text);
  if (body === undefined) {
    yield { kind: 'malformed', text };
    return;
  }
  const answer = plan.provider.format.readBody(body);
  report({ numbers: answer.numbers, raw: answer.raw });
  yield* answer.events;
}

function inBandFailure(exchange: Exchange, event: { kind: 'error'; body: Json } | { kind: 'malformed'; text: string }): Failure {
  const base = { status: exchange.status, headers: exchange.headers, inBand: true };
  return event.kind === 'error'
    ? { ...base, text: JSON.stringify(event.body), json: event.body }
    : {
        ...base,
        text: event.text,
        stream: { class: 'malformed', message: `unreadable piece of the stream: ${event.text.slice(0, 200)}` },
      };
}

/** What a stream without error may still lack. */
function missingEnd(draft: AnswerDraft, exchange: Exchange): Failure | undefined {
  const base = { status: exchange.status, headers: exchange.headers, text: '', inBand: true };
  if (!draft.ended) {
    const message = draft.hasContent ? 'the stream ended without its terminal event' : 'the stream ended before any content';
    return { ...base, stream: { class: draft.hasContent ? 'truncated' : 'empty', message } };
  }
  if (draft.hasVisibleBlocks) return undefined;
  switch (draft.stop) {
    case transcripts.StopReason.LENGTH:
    case transcripts.StopReason.CONTEXT_WINDOW:
      return undefined;
    case transcripts.StopReason.CONTENT_FILTER:
      return {
        ...base,
        json: { error: { code: 'content_filter', message: 'the provider withheld the answer' } },
        text: 'content_filter',
      };
    default:
      return { ...base, stream: { class: 'empty', message: 'the answer holds neither text nor a tool call' } };
  }
}
