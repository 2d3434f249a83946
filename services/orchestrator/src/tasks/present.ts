import type { MessageInitShape } from '@bufbuild/protobuf';
import { fromMs, task } from '@nightshift/contracts';
import type { TaskDetails } from './task-details';
import type { TaskRow } from './task-row';

/** A task as other services see it. */
export function presentTask(row: TaskRow, details: TaskDetails): MessageInitShape<typeof task.TaskSchema> {
  const { memory } = row;
  const candidate = details.chain[row.chainPosition] ?? details.chain[0];
  const { receipt, options, workspace } = details;
  return {
    id: row.id,
    teamId: row.teamId,
    parentId: row.parentId ?? '',
    rootId: row.rootId,
    state: row.state,
    pending: row.pending,
    reason: row.reason,
    goal: details.goal,
    criteria: details.criteria.map((criterion) => ({ ...criterion })),
    plan: details.plan.map((step) => ({ ...step })),
    chain: details.chain.map((one) => ({ ...one })),
    chainPosition: row.chainPosition,
    workspace: workspace && { ...workspace },
    epoch: row.epoch,
    generation: row.generation,
    lastSeq: row.lastSeq,
    iterations: row.iterations,
    toolCalls: row.toolCalls,
    thresholdHits: row.thresholdHits,
    measuredTokens: memory.figures.measured,
    threshold: memory.figures.threshold,
    effectiveThreshold: memory.figures.effective,
    window: memory.figures.window,
    windowSource: memory.figures.source,
    createdAtMs: fromMs(row.createdAt),
    updatedAtMs: fromMs(row.updatedAt),
    endedAtMs: fromMs(row.endedAt ?? 0),
    dueAtMs: fromMs(row.dueAt ?? 0),
    breaker: { ...memory.breaker },
    spend: {
      inputTokens: BigInt(memory.spend.input),
      outputTokens: BigInt(memory.spend.output),
      cacheReadTokens: BigInt(memory.spend.cacheRead),
      modelCalls: memory.spend.calls,
    },
    options: {
      maxOutputTokens: options.maxOutputTokens,
      maxIterations: memory.maxIterations,
      system: options.system,
      toolNames: [...options.toolNames],
      compaction: { ...options.compaction },
      tools: {
        ...options.tools,
        allowedHosts: [...options.tools.allowedHosts],
        environmentAllow: [...options.tools.environmentAllow],
      },
    },
    result: details.result,
    provider: candidate?.provider ?? '',
    model: candidate?.model ?? '',
    receipt: receipt && {
      askedAtMs: fromMs(receipt.askedAt),
      lastProviderByteMs: fromMs(receipt.lastProviderByte),
      upstreamClosedMs: fromMs(receipt.upstreamClosed),
      callsStartedAfter: receipt.callsStartedAfter,
      tokensBilled: fromMs(receipt.tokensBilled),
      processesEnded: receipt.processesEnded,
      complete: receipt.complete,
      completedAtMs: fromMs(receipt.completedAt),
      confirmations: [...receipt.confirmations],
    },
    lastEventSeq: row.lastEventSeq,
    question: details.question,
  };
}
