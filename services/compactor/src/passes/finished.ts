import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { cutHead } from '@nightshift/compaction';
import type { LadderResult } from '@nightshift/compaction';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import type { ResultStore } from './result-store';

/** A checkpoint above this many bytes travels through the store: commands hold 64 KB at most. */
const inlineBytes = 40_000;
/** Reasons are for people; a command has no room for the whole of a provider's answer. */
const reasonChars = 600;

interface Given {
  readonly request: compaction.RunRequest;
  readonly job: compaction.Job;
  readonly worker: string;
  readonly target: compaction.ModelWindow;
  readonly result: LadderResult;
  readonly ms: number;
  readonly store: Pick<ResultStore, 'put'>;
}

/** What the orchestrator is told. */
export async function finishedOf(given: Given): Promise<compaction.Finished> {
  const { request, job, worker, target, result } = given;
  const { threshold } = result;
  return create(compaction.FinishedSchema, {
    taskId: request.taskId,
    passId: request.passId,
    basedOnGeneration: job.generation,
    outcome: result.outcome,
    ...(await carried(given)),
    tiers: result.tiers.map((tier) => create(compaction.TierReportSchema, { ...tier, reason: short(tier.reason) })),
    loss: result.loss,
    threshold: threshold.threshold,
    effectiveThreshold: threshold.effective,
    window: threshold.window,
    windowSource: target.source,
    reason: short(result.reason),
    ms: given.ms,
    before: result.before,
    after: result.after,
    summaryCalls: result.summaryCalls,
    summaryFailed: result.summaryFailed,
    provider: job.targetProvider,
    model: job.targetModel,
    worker,
    tight: threshold.tight,
    prefixBreak: result.prefixBreak,
  });
}

async function carried({
  result: { checkpoint },
  request,
  store,
}: Given): Promise<{ checkpoint?: compaction.Checkpoint; checkpointStored?: transcript.StoredReference }> {
  if (!checkpoint) return {};
  const content = toBinary(compaction.CheckpointSchema, checkpoint);
  if (content.length <= inlineBytes) return { checkpoint };
  // Named after the content too: a second run of the pass may come to another checkpoint.
  const id = `checkpoint-${request.passId}-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`;
  const item = { id, content, mediaType: 'application/x-protobuf', tool: '', callId: '' };
  return { checkpointStored: await store.put(item) };
}

function short(text: string): string {
  return text.length <= reasonChars ? text : `${cutHead(text, reasonChars)}…`;
}
