import type { transcript } from '@nightshift/contracts';
import { transcript as transcripts } from '@nightshift/contracts';
import { classify, type Classified, type Failure } from '../classify/classify';
import type { Json } from '../classify/json';
import type { AnswerEvent } from '../formats/format';
import type { Provider } from '../providers/provider';
import { Exchange, type Taken } from '../transport/exchange';
import { TransportFault } from '../transport/fault';
import type { HttpClient } from '../transport/http-client';
import type { StopSignal } from '../transport/stop-signal';
import { usageOf } from '../usage/normal-usage';
import { AnswerDraft } from './answer';
import { answerReader, type AnswerReader } from './answer-reader';
import type { Emit, GatewayEvent, Terminal } from './gateway-event';

export interface AttemptPlan {
  provider: Provider;
  body: string | Buffer;
  /** The body is the caller's own and the answer is handed on as it comes. */
  native: boolean;
  stream: boolean;
  signal: StopSignal;
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

/** One call to one provider. What a caller may be shown is emitted while it comes. Never rejects. */
export async function runAttempt(plan: AttemptPlan, client: HttpClient, now: () => number, emit: Emit): Promise<AttemptResult> {
  const { format, target } = plan.provider;
  const clocks = { ...plan.provider.clocks, total: Math.max(1, Math.min(plan.provider.clocks.total, plan.leftMs)) };
  const exchange = new Exchange(client, clocks, plan.signal);
  const draft = new AnswerDraft();
  let reader: AnswerReader | undefined;
  let firstContentAt = 0;
  let failure: Failure | undefined;
  // Held until the first content: up to there the answer may still come from somebody else.
  let held: Buffer[] = [];

  const take = (events: readonly AnswerEvent[], bytes: Buffer | undefined): Taken | Promise<Taken> => {
    let wait: Promise<void> | undefined | void = undefined;
    for (const event of events) {
      if (event.kind === 'error' || event.kind === 'malformed') {
        failure = inBandFailure(exchange, event);
        return 'enough';
      }
      if (!draft.add(event)) continue;
      firstContentAt ||= now();
      exchange.contentSeen();
      const shown = plan.native ? undefined : shownOf(event);
      if (shown) wait = emit(shown) ?? wait;
    }
    if (plan.native && bytes) held.push(bytes);
    if (held.length > 0 && draft.hasContent) {
      wait = emit({ kind: 'raw', bytes: held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held) }) ?? wait;
      held = [];
    }
    const result = draft.ended ? 'enough' : 'more';
    return wait ? wait.then(() => result) : result;
  };

  try {
    await (typeof plan.body === 'string' && !plan.native ? format.call(target, plan.body, exchange) : sendNative(plan, exchange));
    if (exchange.status < 200 || exchange.status >= 300) {
      failure = { status: exchange.status, headers: exchange.headers, text: exchange.errorText, inBand: false };
    } else {
      const reading = (reader = answerReader(format, plan.stream, exchange.headers['content-type']));
      await exchange.read((bytes) => take(reading.feed(bytes), bytes));
      if (!failure && !draft.ended) await take(reading.end(), undefined);
    }
  } catch (error) {
    const fault =
      error instanceof TransportFault ? error : exchange.fail(new TransportFault('unreadable', String(error), { cause: error }));
    // The finish reason was there: what is missing is the end marker only, and a server that then hangs is no failure.
    if (draft.stop !== undefined && fault.kind !== 'aborted') draft.ended = true;
    else failure = { status: exchange.status, headers: exchange.headers, text: '', inBand: false, fault };
  } finally {
    exchange.finish();
  }
  failure ??= missingEnd(draft, exchange);
  // An answer without content that is no failure (cut at the first token by its length).
  if (!failure && held.length > 0) await emit({ kind: 'raw', bytes: Buffer.concat(held) });

  const report = reader?.usage() ?? { numbers: {}, raw: {} };
  const endedAt = now();
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

/** The caller's own bytes, with our credential. */
async function sendNative(plan: AttemptPlan, exchange: Exchange): Promise<void> {
  const { url, headers } = plan.provider.format.address(plan.provider.target);
  await exchange.send(url, 'POST', headers, plan.body);
}

function shownOf(event: AnswerEvent): Exclude<GatewayEvent, Terminal> | undefined {
  switch (event.kind) {
    case 'text':
      return { kind: 'text', text: event.text };
    case 'reasoning':
      return { kind: 'reasoning', text: event.text };
    case 'tool_call':
      return { kind: 'tool_call', providerId: event.providerId, name: event.name };
    case 'tool_call_arguments':
      return { kind: 'tool_call_arguments', json: event.json };
    default:
      return undefined;
  }
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
