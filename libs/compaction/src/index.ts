export { defaultPolicy, policyWith, policyFromWire, unknownWindow } from './policy/policy';
export type { CompactionPolicy } from './policy/policy';
export { thresholdFor, hardLimitOf, isOver, noFixedParts } from './policy/threshold';
export type { Threshold, ThresholdInput, FixedParts, Irreducible } from './policy/threshold';
export { outputToSend } from './policy/output';
export type { OutputInput, OutputPlan } from './policy/output';
export { budgetsFor } from './policy/room';
export type { Budgets } from './policy/room';

export { estimateText } from './measure/text-estimate';
export {
  estimateEntry,
  estimateMessage,
  estimateMessages,
  estimateParts,
  estimatePrefix,
  estimateTools,
  estimateView,
  imageTokens,
  inflate,
} from './measure/estimate';
export { measure, crosses, drifted, usageFault } from './measure/measure';
export type { Measured, MeasureInput } from './measure/measure';
export { fitVector, overLimits } from './measure/fit';
export type { FitVector, FitLimits } from './measure/fit';
export { confirmTokens, closeTokenThread } from './tokens/confirm';

export { renderView, visibleSeqs } from './view/render';
export type { RenderInput } from './view/render';
export { viewHash, prefixHash } from './view/hash';
export { unitsOf, openCalls } from './view/pairing';
export type { Unit } from './view/pairing';

export {
  breakerAfter,
  breakerAllows,
  breakerFor,
  closedBreaker,
  passFailed,
  grown,
  forcedAllowed,
  forcedLimit,
  allowedAfterUndo,
  summaryAllowed,
} from './state/breaker';
export type { PassFigures } from './state/breaker';
export { refillAfterPass, largestContributor, loweredSpillChars, noRefill } from './state/refill';
export type { RefillState, RefillAction, Contributor } from './state/refill';

export { runLadder, isDue } from './ladder/run';
export type { LadderResult } from './ladder/run';
export type { LadderInput } from './ladder/input';
export type { LadderPorts, Summarizer, SummaryCall, CondenseCall, ContentStore, StoreItem, TierName } from './ladder/ports';
export { stopReason } from './ladder/ports';
export type { ArchiveLine, ArchivePart } from './ladder/archive';
export { outcomeOf, failureShare } from './state/outcome';
export { summarySections, missingSections } from './tiers/summary-sections';
export { isProtected } from './tiers/micro';

export {
  planSpill,
  previewOf,
  previewCharsFor,
  readChars,
  spillsFirstMessage,
  spillChars,
  previewChars,
  firstMessagePreviewChars,
} from './ingest/spill';
export type { BatchResult, PreviewInput } from './ingest/spill';
export { head as cutHead, tail as cutTail } from './text/cut';
export { fenced, fenceNotice } from './text/fence';

export { checkAnthropic } from './checkers/anthropic';
export { checkOpenaiChat } from './checkers/openai-chat';
export { checkOpenaiResponses } from './checkers/openai-responses';
export { checkers } from './checkers/checkers';
export type { Protocol } from './checkers/checkers';
export type { Violation, CheckOptions } from './checkers/violation';
