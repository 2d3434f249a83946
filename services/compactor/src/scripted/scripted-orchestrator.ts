import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { compaction, routes } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';

/** The orchestrator's side of a pass, with one task from the spec. */
@Controller()
export class ScriptedOrchestrator {
  static job: MessageInitShape<typeof compaction.JobSchema> | undefined;
  static entries: transcript.Entry[] = [];
  static claims: compaction.ClaimRequest[] = [];
  static finished: compaction.Finished[] = [];

  static reset(job: MessageInitShape<typeof compaction.JobSchema> | undefined, entries: transcript.Entry[]): void {
    ScriptedOrchestrator.job = job;
    ScriptedOrchestrator.entries = entries;
    ScriptedOrchestrator.claims = [];
    ScriptedOrchestrator.finished = [];
  }

  @MessagePattern(routes.compactionClaim.subject)
  claim(@Payload() request: compaction.ClaimRequest): MessageInitShape<typeof compaction.ClaimReplySchema> {
    ScriptedOrchestrator.claims.push(request);
    const { job } = ScriptedOrchestrator;
    const closed = ScriptedOrchestrator.finished.some(({ passId }) => passId === request.passId);
    return job && !closed ? { granted: true, reason: 'granted', job } : { granted: false, reason: 'closed' };
  }

  /** Small pages, so that several are needed. */
  @MessagePattern(routes.transcriptFetch.subject)
  fetch(@Payload() request: compaction.TranscriptRequest): MessageInitShape<typeof compaction.TranscriptReplySchema> {
    const found = ScriptedOrchestrator.entries.filter(({ seq }) => seq > request.afterSeq && seq <= request.throughSeq);
    return { entries: found.slice(0, 7), more: found.length > 7 };
  }

  @EventPattern(routes.compactionFinished.subject)
  done(@Payload() finished: compaction.Finished): void {
    ScriptedOrchestrator.finished.push(finished);
  }
}
