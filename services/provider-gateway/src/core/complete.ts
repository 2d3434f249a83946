import { create } from '@bufbuild/protobuf';
import { NightshiftError, fromMs, llm, transcript } from '@nightshift/contracts';
import type { BuildOptions } from '../formats/format';
import type { Provider } from '../providers/provider';
import { silentTruncation } from '../usage/silent-truncation';
import { afterFailure } from './after-failure';
import { runAttempt, type AttemptResult } from './attempt';
import { failedCall, type CandidateFailure } from './failed-call';
import { fitFor, thresholdOf, windowWith, type Fit } from './fit';
import type { CallContext, GatewayEvent } from './gateway-event';
import type { GatewayDeps } from './gateway-deps';
import { observationsOf } from './observations';

/** Where a call stands; one per call, threaded through its candidates. */
interface Progress {
  attempts: llm.Attempt[];
  fallbacks: llm.Fallback[];
  failures: CandidateFailure[];
  startedAt: number;
}

interface Turn {
  candidate: llm.Candidate;
  position: number;
  provider: Provider;
}

type TurnEnd = { end: 'finished'; reply: llm.CompleteReply } | { end: 'next' } | { end: 'failed'; error: NightshiftError };

/**
 * One logical model call over a chain of candidates, as a stream of events whose last one is terminal. Nothing is thrown.
 * The chain starts at `chainPosition` and wraps around, so that a task that moved on to its fallback can come back.
 */
export async function* complete(
  request: llm.CompleteRequest,
  call: CallContext,
  deps: GatewayDeps,
): AsyncGenerator<GatewayEvent, void, undefined> {
  const progress: Progress = { attempts: [], fallbacks: [], failures: [], startedAt: deps.now() };
  try {
    const turns = turnsOf(request, deps);
    for (const [index, turn] of turns.entries()) {
      if (index > 0) recordFallback(progress, turns[index - 1] as Turn, turn, request, call, deps);
      const end = yield* tryCandidate(turn, index, turns.length, request, call, progress, deps);
      if (end.end === 'finished') return yield { kind: 'finished', reply: end.reply };
      if (end.end === 'failed') return yield failed(end.error, progress, deps);
    }
    deps.counters.exhausted();
    yield failed(failedCall(progress.failures, false), progress, deps);
  } catch (error) {
    yield failed(NightshiftError.from(error), progress, deps);
  }
}

/** The candidates in the order in which they are asked. Unknown ones are an error at once, not when their turn comes. */
function turnsOf(request: llm.CompleteRequest, deps: GatewayDeps): Turn[] {
  if (request.chain.length === 0) throw new NightshiftError('INVALID_ARGUMENT', 'chain: expected at least one candidate');
  if (!request.view) throw new NightshiftError('INVALID_ARGUMENT', 'view: expected the messages to send');
  const turns = request.chain.map((candidate, position) => ({ candidate, position, provider: deps.catalog.require(candidate) }));
  const start = Math.min(request.chainPosition, turns.length - 1);
  return [...turns.slice(start), ...turns.slice(0, start)];
}

async function* tryCandidate(
  turn: Turn,
  index: number,
  count: number,
  request: llm.CompleteRequest,
  call: CallContext,
  progress: Progress,
  deps: GatewayDeps,
): AsyncGenerator<GatewayEvent, TurnEnd, undefined> {
  const { candidate, position, provider } = turn;
  const name = { provider: provider.id, credential: provider.credential, model: candidate.model };
  const window = windowWith(provider, candidate, deps.windowOf(candidate, call.team));
  const fit = fitFor({ request, provider, candidate, position, window, policy: deps.policy, isStart: index === 0 });
  const state = {
    tries: 0,
    waitedMs: 0,
    outputRepaired: false,
    reasoningDropped: false,
    maxOutput: fit.maxOutput,
    why: index === 0 ? 'start' : 'fallback',
    waitMs: 0,
  };

  for (;;) {
    const permit = await deps.breakers.permit(name);
    if (!permit.allowed) {
      const skipped = { why: 'breaker' as const, reason: permit.reason, retryAfterMs: Math.max(0, permit.untilMs - deps.now()) };
      // A breaker that opened during this candidate's own tries: what it failed with says more than the breaker.
      if (state.tries === 0) progress.failures.push({ candidate, position, skipped });
      return { end: 'next' };
    }
    const release = deps.slots.take(provider);
    if (!release) {
      deps.breakers.giveBack(permit);
      throw new NightshiftError('BUSY', `${provider.id}: all ${provider.maxConcurrency} slots are taken`, {
        retryAfterMs: 1_000,
      });
    }

    state.tries++;
    const number = progress.attempts.length + 1;
    yield { kind: 'attempt', number, provider: provider.id, model: candidate.model };
    const built = provider.format.build(request.view as transcript.View, buildOptions(turn, request, call, fit, state));
    const plan = {
      provider,
      body: JSON.stringify(built.body),
      stream: call.unstreamed !== true,
      signal: call.signal,
      estimatedInput: request.estimatedInputTokens || request.measuredInputTokens,
      leftMs: call.deadlineMs - deps.now(),
    };
    let result: AttemptResult;
    try {
      result = yield* shown(runAttempt(plan, deps.client, deps.now));
    } finally {
      release();
    }
    const { failure } = result;
    deps.breakers.report(permit, failure ? { kind: 'failed', failure } : { kind: 'ok' });
    const truncated = failure ? undefined : flagTruncation(result, request, fit, provider.id, deps);
    const attempt = attemptOf(turn, number, request, result, state, deps);
    progress.attempts.push(attempt);
    deps.counters.attempt(attempt, failure, result.firstContentAt ? result.firstContentAt - result.startedAt : 0);
    await deps.attemptEnded(attempt);

    if (!failure) {
      if (!truncated) observeAccepted(result, request, turn, call, deps);
      return { end: 'finished', reply: replyOf(turn, result, fit, state.maxOutput, built.translations, progress, deps) };
    }
    for (const observation of observationsOf(failure, candidate, provider.target.baseUrl)) deps.observe(observation, call.team);
    const next = afterFailure({
      failure,
      contentShown: result.draft.hasContent,
      tries: state.tries,
      waitedMs: state.waitedMs,
      outputRepaired: state.outputRepaired,
      reasoningDropped: state.reasoningDropped,
      outputSent: state.maxOutput,
      outputMandatory: provider.format.outputIsMandatory,
      measured: request.measuredInputTokens,
      hasNext: index < count - 1,
      leftMs: call.deadlineMs - deps.now(),
      random: deps.random(),
    });
    switch (next.do) {
      case 'retry':
        state.why = `retry after ${next.why}`;
        state.waitMs = next.waitMs;
        state.waitedMs += next.waitMs;
        await deps.sleep(next.waitMs, call.signal);
        break;
      case 'repair_output':
        Object.assign(state, {
          outputRepaired: true,
          maxOutput: next.maxOutput,
          why: `output lowered after ${next.why}`,
          waitMs: 0,
        });
        break;
      case 'drop_reasoning':
        Object.assign(state, { reasoningDropped: true, why: next.why, waitMs: 0 });
        break;
      case 'next':
        progress.failures.push({ candidate, position, failure });
        return { end: 'next' };
      case 'fail':
        progress.failures.push({ candidate, position, failure });
        // Several candidates failed, this one as the last: one joined error.
        if (index === count - 1 && !result.draft.hasContent && progress.failures.length > 1) return { end: 'next' };
        return { end: 'failed', error: failedCall(progress.failures, result.draft.hasContent) };
    }
  }
}

/** Turns pieces of an answer into events for the caller. */
async function* shown(attempt: ReturnType<typeof runAttempt>): AsyncGenerator<GatewayEvent, AttemptResult, undefined> {
  for (;;) {
    const step = await attempt.next();
    if (step.done) return step.value;
    const event = step.value;
    switch (event.kind) {
      case 'text':
        yield { kind: 'text', text: event.text };
        break;
      case 'reasoning':
        yield { kind: 'reasoning', text: event.text };
        break;
      case 'tool_call':
        yield { kind: 'tool_call', providerId: event.providerId, name: event.name };
        break;
      case 'tool_call_arguments':
        yield { kind: 'tool_call_arguments', json: event.json };
        break;
      default:
    }
  }
}

function buildOptions(
  turn: Turn,
  request: llm.CompleteRequest,
  call: CallContext,
  fit: Fit,
  state: { maxOutput: number; reasoningDropped: boolean },
): BuildOptions {
  const choice = request.toolChoice;
  return {
    model: turn.candidate.model,
    provider: turn.provider.id,
    maxOutputTokens: state.maxOutput,
    temperature: request.hasTemperature ? request.temperature : undefined,
    toolChoice: choice === 'none' || choice === 'required' ? choice : 'auto',
    stream: call.unstreamed !== true,
    numCtx: fit.numCtx,
    dropReasoning: state.reasoningDropped,
    quirks: turn.provider.target.quirks,
  };
}

function flagTruncation(
  result: AttemptResult,
  request: llm.CompleteRequest,
  fit: Fit,
  provider: string,
  deps: GatewayDeps,
): string | undefined {
  const sign = silentTruncation({
    reportedInput: result.usage.inputTotal,
    reported: result.usage.source !== transcript.UsageSource.ESTIMATED,
    estimatedInput: request.estimatedInputTokens,
    servedWindow: fit.window.unknown ? 0 : fit.window.window,
    stoppedForLength: result.draft.stop === transcript.StopReason.LENGTH,
    outputTokens: result.usage.outputTotal,
    contentSeen: result.draft.hasContent,
  });
  if (sign !== undefined) {
    result.usage.silentlyTruncated = true;
    deps.counters.silentTruncation(provider);
  }
  return sign;
}

/** A request larger than the believed window that was accepted disproves the belief. */
function observeAccepted(
  result: AttemptResult,
  request: llm.CompleteRequest,
  turn: Turn,
  call: CallContext,
  deps: GatewayDeps,
): void {
  const believed = deps.windowOf(turn.candidate, call.team);
  if (result.usage.source !== transcript.UsageSource.TERMINAL || believed.unknown || result.usage.inputTotal <= believed.window)
    return;
  const { provider, candidate } = turn;
  deps.observe(
    {
      provider: provider.id,
      endpoint: provider.target.baseUrl,
      model: candidate.model,
      kind: 'accepted',
      tokens: result.usage.inputTotal,
      exactness: 'exact',
      text: `task ${request.taskId}`,
    },
    call.team,
  );
}

function attemptOf(
  turn: Turn,
  number: number,
  request: llm.CompleteRequest,
  result: AttemptResult,
  state: { why: string; waitMs: number },
  deps: GatewayDeps,
): llm.Attempt {
  const { failure } = result;
  return create(llm.AttemptSchema, {
    id: deps.newId(),
    number,
    provider: turn.provider.id,
    model: turn.candidate.model,
    endpoint: turn.provider.target.baseUrl,
    outcome: failure?.class ?? 'ok',
    errorClass: failure?.class ?? '',
    errorCode: failure ? failure.code || failure.type : '',
    message: failure ? deps.catalog.scrub(failure.message).slice(0, 2_000) : '',
    startedAtMs: fromMs(result.startedAt),
    endedAtMs: fromMs(result.endedAt),
    usage: result.usage,
    httpStatus: result.status,
    why: state.why,
    waitMs: state.waitMs,
    taskId: request.taskId,
    purpose: request.purpose,
    epoch: request.epoch,
  });
}

function replyOf(
  turn: Turn,
  result: AttemptResult,
  fit: Fit,
  maxOutput: number,
  translations: string[],
  progress: Progress,
  deps: GatewayDeps,
): llm.CompleteReply {
  return create(llm.CompleteReplySchema, {
    message: result.draft.message(turn.provider.id, turn.candidate.model, deps.newId),
    usage: result.usage,
    provider: turn.provider.id,
    model: turn.candidate.model,
    endpoint: turn.provider.target.baseUrl,
    chainPosition: turn.position,
    fallbacks: progress.fallbacks,
    window: fit.window.window,
    windowSource: fit.window.source,
    outputTokensSent: maxOutput,
    translations,
    firstContentMs: fromMs(result.firstContentAt ? result.firstContentAt - progress.startedAt : 0),
    totalMs: fromMs(result.endedAt - progress.startedAt),
    attempts: progress.attempts,
  });
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

/** Provider texts may quote the key they refused. */
function failed(error: NightshiftError, progress: Progress, deps: GatewayDeps): GatewayEvent {
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
