import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { Bus, BusContext } from '@nightshift/bus';
import { compaction, routes, task, transcript } from '@nightshift/contracts';

type Finished = MessageInitShape<typeof compaction.FinishedSchema>;
interface SeenJob {
  readonly run: compaction.RunRequest;
  readonly claim: compaction.ClaimReply;
  readonly entries: readonly transcript.Entry[];
}

/** The compactor's side of the bus: claims a pass, reads the transcript, answers with what the spec says. */
@Controller()
export class ScriptedCompactor {
  static answer: (job: SeenJob) => Finished | Promise<Finished> = summarised;
  static jobs: SeenJob[] = [];
  static refused: string[] = [];

  constructor(private readonly bus: Bus) {}

  static reset(answer: (job: SeenJob) => Finished | Promise<Finished> = summarised): void {
    ScriptedCompactor.answer = answer;
    ScriptedCompactor.jobs = [];
    ScriptedCompactor.refused = [];
  }

  @EventPattern(routes.compactionRun.subject)
  async run(@Payload() run: compaction.RunRequest, @Ctx() ctx: BusContext): Promise<void> {
    const claim = await this.bus.request(
      routes.compactionClaim,
      { taskId: run.taskId, passId: run.passId, worker: 'c1', delivery: ctx.delivery },
      { team: ctx.team },
    );
    if (!claim.granted || !claim.job) {
      ScriptedCompactor.refused.push(claim.reason);
      return;
    }
    const { entries } = await this.bus.request(
      routes.transcriptFetch,
      { taskId: run.taskId, afterSeq: claim.job.checkpoint?.hiddenThroughSeq ?? 0, throughSeq: claim.job.lastSeq },
      { team: ctx.team },
    );
    const job = { run, claim, entries };
    ScriptedCompactor.jobs.push(job);
    const finished = await ScriptedCompactor.answer(job);
    await this.bus.command(routes.compactionFinished, finished, { team: ctx.team, messageId: `${run.passId}:finished` });
  }

  @MessagePattern(routes.taskStop.subject)
  stop(): MessageInitShape<typeof task.StopReplySchema> {
    return { party: 'compactor', instance: 'c1', idle: true };
  }
}

/** Hides everything and puts a summary in its place. */
export function summarised(
  { run, claim }: SeenJob,
  over: { outcome?: compaction.PassOutcome; after?: number; summaryFailed?: boolean } = {},
): Finished {
  const { job } = claim;
  return {
    taskId: run.taskId,
    passId: run.passId,
    basedOnGeneration: run.generation,
    outcome: compaction.PassOutcome.REDUCED,
    before: job?.measured ?? 0,
    after: 2_000,
    ms: 5,
    tiers: [{ tier: 'summary', outcome: 'applied', before: job?.measured ?? 0, after: 2_000 }],
    checkpoint: {
      generation: run.generation + 1,
      hiddenThroughSeq: job?.lastSeq ?? 0,
      verbatimUserSeqs: [1],
      summary: `Summary of generation ${run.generation + 1}.`,
      reinjected: job?.goalAndPlan,
    },
    ...over,
  };
}
