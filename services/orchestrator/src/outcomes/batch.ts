import { estimateEntry, planSpill, previewChars } from '@nightshift/compaction';
import { task, transcript } from '@nightshift/contracts';
import type { CallState, EntryDraft } from '../tasks/outcome';

/** A call of the open batch, as the ledger knows it. */
export interface BatchCall {
  readonly callId: string;
  readonly providerId: string;
  readonly position: number;
  readonly wave: number;
  readonly tool: string;
  readonly place: 'state' | 'runner';
  readonly state: CallState;
  readonly argumentsJson: string;
  readonly result: transcript.ToolResult | undefined;
}

/** What the open batch needs next. */
export type BatchPlan =
  /** Calls of this wave are still running. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'dispatch'; readonly wave: number; readonly callIds: readonly string[] }
  | { readonly kind: 'state'; readonly wave: number; readonly calls: readonly BatchCall[] }
  /** Every call has its result, together they are within the batch's budget. */
  | { readonly kind: 'close'; readonly results: readonly transcript.ToolResult[] }
  /** The named results go to the store first, largest first. */
  | { readonly kind: 'spill'; readonly callIds: readonly string[]; readonly results: readonly transcript.ToolResult[] };

/**
 * Decides how an open batch goes on.
 * @param wave the wave that was dispatched last; -1 before the first.
 * @param budgetTokens what the results of one batch may hold together, in tokens.
 */
export function planBatch(calls: readonly BatchCall[], wave: number, budgetTokens: number): BatchPlan {
  const ordered = [...calls].sort((a, b) => a.position - b.position);
  const open = ordered.filter(isOpen);
  const next = open[0];
  if (!next) {
    const results = ordered.flatMap(({ result }) => (result ? [result] : []));
    const callIds = overBudget(results, budgetTokens);
    return callIds.length === 0 ? { kind: 'close', results } : { kind: 'spill', callIds, results };
  }
  const ofWave = open.filter((call) => call.wave === next.wave);
  if (next.place === 'state') return { kind: 'state', wave: next.wave, calls: ofWave };
  if (next.wave <= wave) return { kind: 'wait' };
  return { kind: 'dispatch', wave: next.wave, callIds: ofWave.map(({ callId }) => callId) };
}

export function isOpen(call: Pick<BatchCall, 'state'>): boolean {
  return call.state === 'intended' || call.state === 'started';
}

/** Characters of text in a result; images count nothing here, they have their own budget. */
export function resultChars(result: transcript.ToolResult): number {
  return result.parts.reduce((sum, { kind }) => sum + (kind.case === 'text' ? kind.value.length : 0), 0);
}

/** Results to spill so that the batch stays within its share of the window, the largest first. */
function overBudget(results: readonly transcript.ToolResult[], budgetTokens: number): readonly string[] {
  const sizes = results
    .filter((result) => !result.stored)
    .map((result) => ({
      id: result.callId,
      chars: resultChars(result),
      tokens: estimateEntry({ body: { case: 'toolResult', value: result } }),
    }));
  const stored = results.filter((result) => result.stored).reduce((sum, result) => sum + Math.ceil(resultChars(result) / 4), 0);
  // The runner has applied the limit of a single result; images stay where they are.
  return planSpill(sizes, Math.max(0, budgetTokens - stored), Infinity).filter((id) =>
    sizes.some((size) => size.id === id && size.chars > previewChars),
  );
}

/** The entries that close a batch, in the order of the calls. */
export function resultEntries(
  results: readonly transcript.ToolResult[],
  estimate: (body: transcript.Entry['body']) => number,
): readonly EntryDraft[] {
  return results.map((value) => {
    const body: transcript.Entry['body'] = { case: 'toolResult', value };
    return { body, estimate: estimate(body) };
  });
}

/** What a step or a result writes into the row for each plan of the batch. */
export function pendingOf(plan: BatchPlan): task.Pending {
  switch (plan.kind) {
    case 'wait':
    case 'dispatch':
      return task.Pending.TOOLS;
    case 'state':
    case 'close':
    case 'spill':
      return task.Pending.STEP;
  }
}
