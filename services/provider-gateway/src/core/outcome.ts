import { create } from '@bufbuild/protobuf';
import { fromMs, llm, transcript } from '@nightshift/contracts';
import type { Classified } from '../classify/classify';
import { silentTruncation } from '../usage/silent-truncation';
import type { AttemptResult } from './attempt';
import type { Fit } from './fit';
import type { CallContext } from './gateway-event';
import type { GatewayDeps } from './gateway-deps';
import type { SentBody } from './request-body';
import type { Progress, Turn } from './turn';

/** Marks an answer that looks as if part of the input had been dropped; its usage must not be trusted. */
export function flagTruncation(
  result: AttemptResult,
  request: llm.CompleteRequest,
  fit: Fit,
  turn: Turn,
  call: CallContext,
  deps: GatewayDeps,
): void {
  const found = silentTruncation({
    reportedInput: result.usage.inputTotal,
    reported: result.usage.source !== transcript.UsageSource.ESTIMATED,
    estimatedInput: request.estimatedInputTokens,
    servedWindow: fit.window.unknown ? 0 : fit.window.window,
    stoppedForLength: result.draft.stop === transcript.StopReason.LENGTH,
    outputTokens: result.usage.outputTotal,
    contentSeen: result.draft.hasContent,
  });
  if (!found) return;
  result.usage.silentlyTruncated = true;
  const { provider, candidate } = turn;
  deps.counters.silentTruncation(provider.id);
  if (found.window === undefined) return;
  const observation = { kind: 'window', tokens: found.window, exactness: 'request_end', text: found.why } as const;
  deps.observe({ provider: provider.id, endpoint: '', model: candidate.model, ...observation }, call.team);
}

/** A request larger than the believed window that was accepted disproves the belief. */
export function observeAccepted(
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
      endpoint: '',
      model: candidate.model,
      kind: 'accepted',
      tokens: result.usage.inputTotal,
      exactness: 'exact',
      text: `task ${request.taskId}`,
    },
    call.team,
  );
}

/** One row of the attempt ledger. */
export function attemptOf(
  turn: Turn,
  number: number,
  request: llm.CompleteRequest,
  result: AttemptResult,
  failure: Classified | undefined,
  state: { why: string; waitMs: number },
  deps: GatewayDeps,
): llm.Attempt {
  return create(llm.AttemptSchema, {
    id: deps.newId(),
    number,
    provider: turn.provider.id,
    model: turn.candidate.model,
    endpoint: turn.provider.target.baseUrl,
    outcome: failure?.class ?? 'ok',
    errorClass: failure?.class ?? '',
    errorCode: failure ? failure.code || failure.type : '',
    message: failure ? failure.message.slice(0, 2_000) : '',
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

/** The terminal message of a call that was answered. */
export function replyOf(
  turn: Turn,
  result: AttemptResult,
  fit: Fit,
  maxOutput: number,
  sent: SentBody,
  progress: Progress,
  deps: GatewayDeps,
): llm.CompleteReply {
  return create(llm.CompleteReplySchema, {
    // Who was handed the provider's own bytes has the message.
    ...(sent.native ? {} : { message: result.draft.message(turn.provider.id, turn.candidate.model, deps.newId) }),
    usage: result.usage,
    provider: turn.provider.id,
    model: turn.candidate.model,
    endpoint: turn.provider.target.baseUrl,
    chainPosition: turn.position,
    fallbacks: progress.fallbacks,
    window: fit.window.window,
    windowSource: fit.window.source,
    outputTokensSent: maxOutput,
    translations: sent.translations,
    firstContentMs: fromMs(result.firstContentAt ? result.firstContentAt - progress.startedAt : 0),
    totalMs: fromMs(result.endedAt - progress.startedAt),
    attempts: progress.attempts,
  });
}
