import { NightshiftError, type llm } from '@nightshift/contracts';
import type { Classified } from '../classify/classify';
import { afterFailure, type NextStep } from './after-failure';
import { runAttempt, type AttemptResult } from './attempt';
import { failedCall, failsForGood } from './failed-call';
import { fitFor, windowWith } from './fit';
import type { CallContext, Emit } from './gateway-event';
import type { GatewayDeps } from './gateway-deps';
import { observationsOf } from './observations';
import { attemptOf, flagTruncation, observeAccepted, replyOf } from './outcome';
import { bodyFor } from './request-body';
import type { Progress, Turn, TurnEnd } from './turn';

/** What the tries at one candidate have led to. */
interface TryState {
  tries: number;
  waitedMs: number;
  outputRepaired: boolean;
  reasoningDropped: boolean;
  maxOutput: number;
  /** Why the coming attempt is made, and after which pause; for the ledger. */
  why: string;
  waitMs: number;
  lastFailure: Classified | undefined;
}

/** Asks one candidate until it answers, its retry budget is spent, or the call is over. */
export async function tryCandidate(
  turn: Turn,
  request: llm.CompleteRequest,
  call: CallContext,
  progress: Progress,
  deps: GatewayDeps,
  emit: Emit,
): Promise<TurnEnd> {
  const { candidate, position, provider } = turn;
  const name = { provider: provider.id, credential: provider.credential, model: candidate.model };
  const window = windowWith(provider, candidate, deps.windowOf(candidate, call.team));
  let state: TryState | undefined;

  for (;;) {
    const permit = await deps.breakers.permit(name, turn.index === 0 && turn.isLast);
    if (!permit.allowed) {
      const skipped = { why: 'breaker' as const, reason: permit.reason, retryAfterMs: Math.max(0, permit.untilMs - deps.now()) };
      // A breaker that opened between this candidate's own tries: what it failed with says more.
      progress.failures.push({ candidate, position, ...(state?.lastFailure ? { failure: state.lastFailure } : { skipped }) });
      return { end: 'next' };
    }
    let reported = false;
    try {
      // After the breaker: nobody should compact for a model that cannot be asked.
      const fit = fitFor({ request, provider, candidate, position, window, policy: deps.policy, isStart: turn.index === 0 });
      state ??= firstTry(turn, fit.maxOutput);
      const release = deps.slots.take(provider);
      if (!release) {
        throw new NightshiftError('BUSY', `${provider.id}: all ${provider.maxConcurrency} slots are taken`, {
          retryAfterMs: 1_000,
        });
      }
      let result: AttemptResult;
      let sent: ReturnType<typeof bodyFor>;
      const number = progress.attempts.length + 1;
      try {
        state.tries++;
        await emit({ kind: 'attempt', number, provider: provider.id, model: candidate.model });
        sent = bodyFor(turn, request, call, fit, state);
        const plan = {
          provider,
          body: sent.body,
          native: sent.native,
          stream: call.unstreamed !== true,
          signal: call.signal,
          estimatedInput: request.estimatedInputTokens || request.measuredInputTokens,
          leftMs: call.deadlineMs - deps.now(),
        };
        result = await runAttempt(plan, deps.client, deps.now, emit);
      } finally {
        release();
      }
      const failure = result.failure && withoutSecrets(result.failure, deps.catalog.scrub);
      reported = true;
      deps.breakers.report(permit, failure ? { kind: 'failed', failure } : { kind: 'ok' });
      if (!failure) flagTruncation(result, request, fit, turn, call, deps);
      const attempt = attemptOf(turn, number, request, result, failure, state, deps);
      progress.attempts.push(attempt);
      deps.counters.attempt(attempt, failure, result.firstContentAt ? result.firstContentAt - result.startedAt : 0);
      await deps.attemptEnded(attempt);
      if (!failure) {
        observeAccepted(result, request, turn, call, deps);
        return { end: 'finished', reply: replyOf(turn, result, fit, state.maxOutput, sent, progress, deps) };
      }
      for (const observation of observationsOf(failure, candidate)) deps.observe(observation, call.team);
      const contentShown = result.draft.hasContent;
      const next = afterFailure({
        failure,
        contentShown,
        tries: state.tries,
        waitedMs: state.waitedMs,
        outputRepaired: state.outputRepaired,
        reasoningDropped: state.reasoningDropped,
        outputSent: state.maxOutput,
        outputMandatory: provider.format.outputIsMandatory,
        measured: request.measuredInputTokens,
        hasNext: !turn.isLast,
        leftMs: call.deadlineMs - deps.now(),
        random: deps.random(),
      });
      if (next.do === 'next' || next.do === 'fail') {
        progress.failures.push({ candidate, position, failure });
        // The last candidate of several: one joined error, unless what happened is final wherever it happens.
        if (next.do === 'next' || !(contentShown || failsForGood(failure))) return { end: 'next' };
        return { end: 'failed', error: failedCall(progress.failures, contentShown) };
      }
      state = { ...afterStep(state, next), lastFailure: failure };
      if (next.do === 'retry') await deps.sleep(next.waitMs, call.signal);
    } finally {
      // A permit that led to no outcome (caller gone, no slot, compaction asked for) may hold the one probe.
      if (!reported) deps.breakers.giveBack(permit);
    }
  }
}

/** Providers quote the credential they refuse; from here on nobody sees it: not the ledger, the registry or the caller. */
function withoutSecrets(failure: Classified, scrub: (text: string) => string): Classified {
  return { ...failure, message: scrub(failure.message), code: scrub(failure.code), type: scrub(failure.type) };
}

function firstTry(turn: Turn, maxOutput: number): TryState {
  const why = turn.index === 0 ? 'start' : 'fallback';
  return {
    tries: 0,
    waitedMs: 0,
    outputRepaired: false,
    reasoningDropped: false,
    maxOutput,
    why,
    waitMs: 0,
    lastFailure: undefined,
  };
}

function afterStep(state: TryState, next: Exclude<NextStep, { do: 'next' | 'fail' }>): TryState {
  switch (next.do) {
    case 'retry':
      return { ...state, why: `retry after ${next.why}`, waitMs: next.waitMs, waitedMs: state.waitedMs + next.waitMs };
    case 'repair_output':
      return { ...state, outputRepaired: true, maxOutput: next.maxOutput, why: `output lowered after ${next.why}`, waitMs: 0 };
    case 'drop_reasoning':
      return { ...state, reasoningDropped: true, why: next.why, waitMs: 0 };
  }
}
