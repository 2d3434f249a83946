import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { Bus, BusContext } from '@nightshift/bus';
import { NightshiftError, fromMs, routes, task, transcript } from '@nightshift/contracts';
import { v7 } from 'uuid';
import { EventStore } from '../events/event.store';
import { Inbox, userMessage } from '../inbox/inbox';
import { CallStore } from '../tools/call.store';
import { ended } from './committed';
import { CreateTask } from './create-task';
import { EntryStore } from './entry.store';
import { TaskReader } from './task-reader';
import { TaskStore } from './task.store';

/** A page of a reply stays far below the payload limit, in bytes. */
const pageBytes = 4 * 1024 * 1024;

@Controller()
export class TaskHandlers {
  constructor(
    private readonly bus: Bus,
    private readonly creates: CreateTask,
    private readonly reader: TaskReader,
    private readonly tasks: TaskStore,
    private readonly entryStore: EntryStore,
    private readonly eventStore: EventStore,
    private readonly calls: CallStore,
    private readonly inbox: Inbox,
  ) {}

  @MessagePattern(routes.taskCreate.subject)
  async create(
    @Payload() request: task.CreateRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.CreateReplySchema>> {
    const { row, existing } = await this.creates.create(ctx.team, request);
    return { task: await this.reader.present(row), existing };
  }

  @MessagePattern(routes.taskGet.subject)
  async get(@Payload() request: task.GetRequest, @Ctx() ctx: BusContext): Promise<MessageInitShape<typeof task.GetReplySchema>> {
    return { task: await this.reader.get(ctx.team, request.taskId) };
  }

  @MessagePattern(routes.taskList.subject)
  list(@Payload() request: task.ListRequest, @Ctx() ctx: BusContext): Promise<MessageInitShape<typeof task.ListReplySchema>> {
    return this.reader.list(ctx.team, request);
  }

  @MessagePattern(routes.taskSend.subject)
  async send(
    @Payload() request: task.SendRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.SendReplySchema>> {
    if (request.parts.length === 0)
      throw new NightshiftError('INVALID_ARGUMENT', 'the message is empty', { faults: ['parts: expected at least one'] });
    const current = await this.reader.get(ctx.team, request.taskId);
    const asked = (current.question ?? '') !== '';
    const origin = request.origin || (asked ? transcript.UserOrigin.ANSWER : transcript.UserOrigin.STEER);
    const row = await this.inbox.send(ctx.team, request.taskId, request.messageId || v7(), userMessage(request.parts, origin));
    return { task: await this.reader.present(row) };
  }

  @MessagePattern(routes.taskEntries.subject)
  async entries(
    @Payload() request: task.EntriesRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.EntriesReplySchema>> {
    const row = await this.tasks.get(ctx.team, request.taskId);
    return this.entryStore.page(ctx.team, row.id, {
      after: request.afterSeq,
      through: row.lastSeq,
      limit: Math.min(request.limit || 1_000, 5_000),
      maxBytes: Math.min(request.maxBytes || pageBytes, pageBytes),
    });
  }

  @MessagePattern(routes.taskEvents.subject)
  async events(
    @Payload() request: task.EventsRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.EventsReplySchema>> {
    const row = await this.tasks.get(ctx.team, request.taskId);
    const page = await this.eventStore.after(ctx.team, row.id, request.afterSeq, Math.min(request.limit || 500, 2_000));
    return { ...page, ended: ended(row.state) && !page.more };
  }

  @MessagePattern(routes.taskToolCalls.subject)
  async toolCalls(
    @Payload() request: task.ToolCallsRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.ToolCallsReplySchema>> {
    const row = await this.tasks.get(ctx.team, request.taskId);
    const calls = await this.calls.list(ctx.team, row.id, request.afterEntrySeq, Math.min(request.limit || 200, 1_000));
    return {
      calls: calls.map((call) => ({
        callId: call.callId,
        providerId: call.providerId,
        tool: call.tool,
        effect: call.effect,
        state: call.state,
        intendedAtMs: fromMs(call.intendedAt),
        startedAtMs: fromMs(call.startedAt ?? 0),
        endedAtMs: fromMs(call.endedAt ?? 0),
        runner: call.runner,
        entrySeq: call.entrySeq,
        argumentsJson: call.argumentsJson.slice(0, 4_000),
        stored: call.result?.stored,
      })),
    };
  }

  @MessagePattern(routes.taskDiff.subject)
  async diff(
    @Payload() request: task.DiffRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.DiffReplySchema>> {
    const { workspace } = await this.reader.get(ctx.team, request.taskId);
    if (!workspace?.runner || !workspace.id) throw new NightshiftError('FAILED_PRECONDITION', 'this task has no open workspace');
    const reply = await this.bus.request(
      routes.workspaceDiff,
      { workspaceId: workspace.id },
      { team: ctx.team, key: workspace.runner, deadlineMs: ctx.deadlineMs },
    );
    return { patch: reply.patch, files: reply.files };
  }
}
