import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller, Module } from '@nestjs/common';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { compaction, routes, type transcript } from '@nightshift/contracts';
import { assistantEntry, numbered, toolResultEntry, userEntry } from '../entries';

const readFile = {
  name: 'read_file',
  description: 'Reads a file.',
  inputSchemaJson: '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}',
};

/** The job of every pass of a burst. */
export interface BurstTranscript {
  /** Calls with their results; one round is about 1 000 tokens. */
  readonly rounds: number;
  /** Window of the model that is compacted for and asked for the summary, in tokens. */
  readonly window: number;
  /** Size of the transcript as the task would have measured it, in tokens: above the threshold of the window. */
  readonly measured: number;
}

/** Small, so that a pass waits for its model and for nothing else. */
export const smallTranscript: BurstTranscript = { rounds: 10, window: 24_000, measured: 14_000 };

function entriesOf(rounds: number): transcript.Entry[] {
  const entries = [userEntry('Make the build green.')];
  for (let round = 1; round <= rounds; round++) {
    const call = { id: `call-${round}`, name: 'read_file', args: { path: `src/${round}.ts` } };
    entries.push(
      assistantEntry({ text: `step ${round}`, calls: [call] }),
      toolResultEntry({ callId: call.id, tool: 'read_file', text: `line ${round} of the file. `.repeat(150) }),
    );
  }
  return numbered(entries);
}

/** The orchestrator's side of many passes: every pass has a task of its own, claims are granted as the real one grants them. */
@Controller()
export class ScriptedOrchestrator {
  private static entries = entriesOf(smallTranscript.rounds);
  private static measured = smallTranscript.measured;
  static readonly claims = new Map<string, string[]>();
  /** Task → what came for it: more than one would be a repeated pass. */
  static readonly finished = new Map<string, compaction.Finished[]>();

  static play({ rounds, measured }: BurstTranscript): void {
    ScriptedOrchestrator.entries = entriesOf(rounds);
    ScriptedOrchestrator.measured = measured;
  }

  @MessagePattern(routes.compactionClaim.subject)
  claim(@Payload() request: compaction.ClaimRequest): MessageInitShape<typeof compaction.ClaimReplySchema> {
    const { taskId, worker, delivery } = request;
    const claims = ScriptedOrchestrator.claims.get(taskId) ?? [];
    const elsewhere = delivery <= 1 && claims.length > 0 && !claims.includes(worker);
    if (ScriptedOrchestrator.finished.has(taskId) || elsewhere) return { granted: false, reason: 'closed' };
    ScriptedOrchestrator.claims.set(taskId, [...claims, worker]);
    return {
      granted: true,
      reason: 'granted',
      job: {
        reason: compaction.PassReason.THRESHOLD,
        lastSeq: ScriptedOrchestrator.entries.length,
        system: `Rules of ${taskId}: be careful.`,
        tools: [readFile],
        targetProvider: 'sim',
        targetModel: 'slow',
        measured: ScriptedOrchestrator.measured,
        goalAndPlan: [{ kind: 'goal', label: '', text: 'Make the build green.' }],
        chain: ['sim/slow'],
        rootId: taskId,
        epoch: 1,
      },
    };
  }

  @MessagePattern(routes.transcriptFetch.subject)
  fetch(@Payload() request: compaction.TranscriptRequest): MessageInitShape<typeof compaction.TranscriptReplySchema> {
    const { afterSeq, throughSeq } = request;
    return { entries: ScriptedOrchestrator.entries.filter(({ seq }) => seq > afterSeq && seq <= throughSeq), more: false };
  }

  @EventPattern(routes.compactionFinished.subject)
  done(@Payload() finished: compaction.Finished): void {
    const before = ScriptedOrchestrator.finished.get(finished.taskId) ?? [];
    ScriptedOrchestrator.finished.set(finished.taskId, [...before, finished]);
  }
}
@Module({ controllers: [ScriptedOrchestrator] })
export class ScriptedOrchestratorModule {}
