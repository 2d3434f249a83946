import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { isObject, type Json, type JsonObject } from '../classify/json';

/** Normal form while a stream runs; undefined = not reported so far. Totals include their parts. */
export interface UsageNumbers {
  inputTotal?: number;
  cacheRead?: number;
  cacheWrite?: number;
  outputTotal?: number;
  reasoning?: number;
  /** The provider's own total, which exposes totals that leave reasoning out. */
  total?: number;
}

/**
 * Folds one usage object into what came before: per field the last value that is not null wins. Reports are cumulative
 * (Anthropic's deltas, Gemini's and vLLM's per-chunk usage), so nothing is ever added.
 */
export function mergeRaw(before: JsonObject, report: Json | undefined): JsonObject {
  if (!isObject(report)) return before;
  const merged: JsonObject = { ...before };
  for (const [name, value] of Object.entries(report)) {
    if (value === null || value === undefined) continue;
    merged[name] = isObject(value) && isObject(merged[name]) ? mergeRaw(merged[name], value) : value;
  }
  return merged;
}

/**
 * Where the provider's total is input + output + reasoning, its output leaves reasoning out (xAI chat completions:
 * 2640 + 182 + 672 = 3494); no table of vendors is needed to see it.
 */
export function includeReasoning(numbers: UsageNumbers): UsageNumbers {
  const { inputTotal, outputTotal, reasoning, total } = numbers;
  if (inputTotal === undefined || outputTotal === undefined || !reasoning || total === undefined) return numbers;
  return total === inputTotal + outputTotal + reasoning ? { ...numbers, outputTotal: outputTotal + reasoning } : numbers;
}

export type UsageSource = 'terminal' | 'running' | 'estimated';
const sourceOf: Record<UsageSource, transcript.UsageSource> = {
  terminal: transcript.UsageSource.TERMINAL,
  running: transcript.UsageSource.RUNNING,
  estimated: transcript.UsageSource.ESTIMATED,
};

export interface UsageEstimate {
  input: number;
  output: number;
}

/**
 * The usage of one attempt. A figure that the provider did not report is the estimate, and then the whole is marked so.
 * @param complete the stream reached its proper end
 */
export function usageOf(numbers: UsageNumbers, raw: JsonObject, complete: boolean, estimate: UsageEstimate): transcript.Usage {
  const fixed = includeReasoning(numbers);
  const reported = fixed.inputTotal !== undefined && fixed.outputTotal !== undefined;
  const source: UsageSource = !reported ? 'estimated' : complete ? 'terminal' : 'running';
  return create(transcript.UsageSchema, {
    inputTotal: fixed.inputTotal ?? estimate.input,
    cacheRead: fixed.cacheRead ?? 0,
    cacheWrite: fixed.cacheWrite ?? 0,
    // A running report may lag behind what was already generated and billed (Anthropic's message_start says 1).
    outputTotal: Math.max(fixed.outputTotal ?? 0, complete && reported ? 0 : estimate.output),
    reasoning: fixed.reasoning ?? 0,
    source: sourceOf[source],
    rawJson: Object.keys(raw).length > 0 ? JSON.stringify(raw) : '',
  });
}
