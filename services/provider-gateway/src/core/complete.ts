import { create } from '@bufbuild/protobuf';
import { NightshiftError, llm } from '@nightshift/contracts';
import { StopSource } from '../transport/stop-signal';
import { failedCall } from './failed-call';
import { thresholdOf, windowWith } from './fit';
import type { CallContext, Emit, GatewayEvent, Terminal } from './gateway-event';
import type { GatewayDeps } from './gateway-deps';
import { tryCandidate } from './try-candidate';
import type { Progress, Turn } from './turn';

/**
 * One logical model call over a chain of candidates, as a stream of events whose last one is terminal. Nothing is thrown.
 * The chain starts at `chainPosition` and wraps around, so that a task that moved on to its fallback can come back.
 * Whoever stops reading stops the call.
 */
export async function* complete(
  request: llm.CompleteRequest,
  call: CallContext,
  deps: GatewayDeps,
): AsyncGenerator<GatewayEvent, void, undefined> {
  const waiting: GatewayEvent[] = [];
  const left = new StopSource();
  const stopped = (): void => left.abort(NightshiftError.from(call.signal.reason));
  let over = false;
  let wake: () => void = () => undefined;
  const put = (event: GatewayEvent): void => {
    waiting.push(event);
    wake();
  };
  if (call.signal.aborted) stopped();
  else call.signal.addEventListener('abort', stopped, { once: true });
  void performCall(request, { ...call, signal: left }, deps, put).then((terminal) => {
    over = true;
    put(terminal);
  });
  try {
    for (;;) {
      for (let event = waiting.shift(); event; event = waiting.shift()) yield event;
      if (over) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    call.signal.removeEventListener('abort', stopped);
    left.abort(new NightshiftError('CANCELLED', 'nobody reads the answer any more'));
  }
}

/** The same for callers that take events as they come: what it resolves to is the terminal event. Never rejects. */
export async function performCall(
  request: llm.CompleteRequest,
  call: CallContext,
  deps: GatewayDeps,
  emit: Emit,
): Promise<Terminal> {
  const progress: Progress = { attempts: [], fallbacks: [], failures: [], startedAt: deps.now() };
  try {
    let before: Turn | undefined;
    for (const turn of turnsOf(request, call, deps)) {
      if (before) recordFallback(progress, before, turn, request, call, deps);
      before = turn;
      const end = await tryCandidate(turn, request, call, progress, deps, emit);
      if (end.end === 'finished') return { kind: 'finished', reply: end.reply };
      if (end.end === 'failed') return failed(end.error, progress, deps);
    }
    deps.counters.exhausted();
    return failed(withKnownModels(failedCall(progress.failures, false), request, deps), progress, deps);
  } catch (error) {
    return failed(NightshiftError.from(error), progress, deps);
  }
}

/** The candidates in the order in which they are asked. Unknown ones are an error at once, not when their turn comes. */
function turnsOf(request: llm.CompleteRequest, call: CallContext, deps: GatewayDeps): Turn[] {
  if (request.chain.length === 0) throw new NightshiftError('INVALID_ARGUMENT', 'chain: expected at least one candidate');
  if (!request.view && !call.native) throw new NightshiftError('INVALID_ARGUMENT', 'view: expected the messages to send');
  const turns = request.chain.map((candidate, position) => ({ candidate, position, provider: deps.catalog.require(candidate) }));
  const start = Math.min(request.chainPosition, turns.length - 1);
  const ordered = [...turns.slice(start), ...turns.slice(0, start)];
  return ordered.map((turn, index) => ({ ...turn, index, isLast: index === ordered.length - 1 }));
}

function recordFallback(
  progress: Progress,
  from: Turn,
  to: Turn,
  request: llm.CompleteRequest,
  call: CallContext,
  deps: GatewayDeps,
): void {
  const last = progress.failures.at(-1);
  const reason = last?.failure?.class ?? last?.skipped?.why ?? 'unknown';
  const window = windowWith(to.provider, to.candidate, deps.windowOf(to.candidate, call.team));
  progress.fallbacks.push(
    create(llm.FallbackSchema, {
      from: `${from.candidate.provider}/${from.candidate.model}`,
      to: `${to.candidate.provider}/${to.candidate.model}`,
      reason,
      window: window.window,
      threshold: thresholdOf(request, window, deps.policy).effective,
    }),
  );
  deps.counters.fallback(reason);
}

/** A model that its provider does not have: the error says which it has. */
function withKnownModels(error: NightshiftError, request: llm.CompleteRequest, deps: GatewayDeps): NightshiftError {
  if (error.code !== 'PROVIDER_NOT_FOUND') return error;
  const known = request.chain.flatMap(({ provider }) => deps.modelsOf(provider).map((model) => `${provider}/${model}`));
  const text = known.length > 0 ? `${error.text}; known models: ${known.join(', ')}` : error.text;
  return new NightshiftError(error.code, text, { details: { ...error.details, known } });
}

/** Provider texts may quote the key they refused. */
function failed(error: NightshiftError, progress: Progress, deps: GatewayDeps): Terminal {
  const scrub = deps.catalog.scrub;
  const details = JSON.parse(scrub(JSON.stringify({ ...error.details, attempts: progress.attempts.length }))) as Record<
    string,
    unknown
  >;
  const clean = new NightshiftError(error.code, scrub(error.text), {
    faults: error.faults,
    retryAfterMs: error.retryAfterMs,
    details,
  });
  return { kind: 'failed', error: clean, attempts: progress.attempts };
}
