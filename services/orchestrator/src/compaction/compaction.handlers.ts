import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { compaction, routes, task } from '@nightshift/contracts';
import { EntryStore } from '../tasks/entry.store';
import { TaskReader } from '../tasks/task-reader';
import { TaskStore } from '../tasks/task.store';
import { ClaimPass } from './claim-pass';
import { FinishPass } from './finish-pass';
import { Generations } from './generations';
import { PassControl } from './pass-control';

/** A page of entries stays below the payload limit, in bytes; the first entry always comes. */
const pageBytes = 4 * 1024 * 1024;

@Controller()
export class CompactionHandlers {
  constructor(
    private readonly claims: ClaimPass,
    private readonly finishes: FinishPass,
    private readonly control: PassControl,
    private readonly generationsOf: Generations,
    private readonly tasks: TaskStore,
    private readonly entries: EntryStore,
    private readonly reader: TaskReader,
  ) {}

  @MessagePattern(routes.compactionClaim.subject)
  claim(
    @Payload() request: compaction.ClaimRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof compaction.ClaimReplySchema>> {
    return this.claims.claim(ctx.team, request);
  }

  @EventPattern(routes.compactionFinished.subject)
  async finished(@Payload() finished: compaction.Finished, @Ctx() ctx: BusContext): Promise<void> {
    await this.finishes.finish(ctx.team, finished);
  }

  @MessagePattern(routes.transcriptFetch.subject)
  async fetch(
    @Payload() request: compaction.TranscriptRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof compaction.TranscriptReplySchema>> {
    const row = await this.tasks.get(ctx.team, request.taskId);
    return this.entries.page(ctx.team, row.id, {
      after: request.afterSeq,
      through: request.throughSeq || row.lastSeq,
      limit: 10_000,
      maxBytes: Math.min(request.maxBytes || pageBytes, pageBytes),
    });
  }

  @MessagePattern(routes.taskCompact.subject)
  async compact(
    @Payload() request: task.CompactRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.CompactReplySchema>> {
    const row = await this.control.compact(ctx.team, request.taskId, request.focus);
    return { task: await this.reader.present(row), passId: row.passId ?? '' };
  }

  @MessagePattern(routes.taskUndo.subject)
  async undo(
    @Payload() request: task.UndoRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.UndoReplySchema>> {
    return { task: await this.reader.present(await this.control.undo(ctx.team, request.taskId)) };
  }

  @MessagePattern(routes.taskGenerations.subject)
  async generations(
    @Payload() request: task.GenerationsRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.GenerationsReplySchema>> {
    return { generations: await this.generationsOf.list(ctx.team, request.taskId) };
  }

  @MessagePattern(routes.taskView.subject)
  view(@Payload() request: task.ViewRequest, @Ctx() ctx: BusContext): Promise<MessageInitShape<typeof task.ViewReplySchema>> {
    return this.generationsOf.view(ctx.team, request);
  }
}
