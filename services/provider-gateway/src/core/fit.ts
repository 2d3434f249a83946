import { create } from '@bufbuild/protobuf';
import { estimateMessage, estimateTools, estimateText, noFixedParts, outputToSend, thresholdFor } from '@nightshift/compaction';
import { compaction, NightshiftError, type llm } from '@nightshift/contracts';
import type { CompactionPolicy, FixedParts, Threshold } from '@nightshift/compaction';
import type { Provider } from '../providers/provider';

/** What one candidate can take, and what it is asked for. */
export interface Fit {
  window: compaction.ModelWindow;
  threshold: number;
  /** 0 = leave the field out. */
  maxOutput: number;
  numCtx: number;
}

export interface FitInput {
  request: llm.CompleteRequest;
  provider: Provider;
  candidate: llm.Candidate;
  position: number;
  window: compaction.ModelWindow;
  policy: CompactionPolicy | undefined;
  /** The caller measured against this very candidate, so that only a hard misfit counts. */
  isStart: boolean;
}

/** The registry's figure with the configuration file's laid over it (an operator's word). */
export function windowWith(provider: Provider, candidate: llm.Candidate, known: compaction.ModelWindow): compaction.ModelWindow {
  const entry = provider.models[candidate.model];
  if (!entry) return known;
  return create(compaction.ModelWindowSchema, {
    ...known,
    window: entry.window ?? known.window,
    inputMax: entry.input_max ?? known.inputMax,
    outputMax: entry.output_max ?? known.outputMax,
    numCtx: entry.num_ctx ?? known.numCtx,
    source: entry.window === undefined ? known.source : 'operator',
    unknown: entry.window === undefined ? known.unknown : false,
  });
}

/**
 * Checks a candidate before anything is sent to it.
 * @throws NightshiftError COMPACT_FIRST with numbers when the input has to be compacted for this model
 */
export function fitFor(input: FitInput): Fit {
  const { request, provider, candidate, window } = input;
  const measured = request.measuredInputTokens;
  // Counting the fixed parts costs a pass over prompt and schemas, which the start candidate's caller has done already.
  const threshold = thresholdOf(request, window, input.policy, input.isStart ? noFixedParts : fixedParts(request));
  const output = outputToSend({
    window: window.window,
    maxOutput: request.maxOutputTokens,
    outputMax: window.outputMax,
    measured,
    mandatory: provider.format.outputIsMandatory,
  });
  // An unknown window is a guess (32 000): it must not refuse what the provider may well take.
  const overThreshold = request.enforceThreshold && !input.isStart && measured > threshold.effective;
  const noRoom = measured > 0 && !window.unknown && output.compactFirst;
  if (overThreshold || noRoom) {
    throw new NightshiftError(
      'COMPACT_FIRST',
      `${candidate.provider}/${candidate.model}: ${measured} tokens measured, threshold ${threshold.effective} of window ${window.window}`,
      {
        details: {
          provider: candidate.provider,
          model: candidate.model,
          chain_position: input.position,
          measured,
          threshold: threshold.effective,
          window: window.window,
          window_source: window.source,
          output_room: output.room,
        },
      },
    );
  }
  const wanted = output.tokens ?? 0;
  // With a guessed window the arithmetic may leave nothing; the caller's own wish, or a modest answer, is then asked for.
  const maxOutput = wanted > 0 || !provider.format.outputIsMandatory ? wanted : request.maxOutputTokens || 8_192;
  return { window, threshold: threshold.effective, maxOutput, numCtx: window.numCtx };
}

/** The threshold of a window for this request. */
export function thresholdOf(
  request: llm.CompleteRequest,
  window: compaction.ModelWindow,
  policy: CompactionPolicy | undefined,
  fixed: FixedParts = fixedParts(request),
): Threshold {
  return thresholdFor({
    window: window.window,
    inputMax: window.inputMax,
    maxOutput: request.maxOutputTokens,
    ...(policy ? { policy } : {}),
    fixed,
  });
}

function fixedParts(request: llm.CompleteRequest): FixedParts {
  const view = request.view;
  if (!view) return noFixedParts;
  const first = view.messages[0];
  return {
    system: view.system ? estimateText(view.system) : 0,
    tools: estimateTools(view.tools),
    firstMessage: first ? estimateMessage(first) : 0,
    goalAndPlan: 0,
  };
}
