import { Controller, Headers, Inject } from '@nestjs/common';
import { NightshiftError, routes, task, transcript } from '@nightshift/contracts';
import { v7 } from 'uuid';
import { ApiConfig } from '../config';
import { AuditStore } from '../audit/audit.store';
import { mayAct, type Caller } from '../auth/keys';
import { From, Input, Serves, type InputOf } from '../http/endpoint';
import { idempotencyKeyOf } from '../http/idempotency';
import { present, type Json } from '../http/present';
import { createRequestOf, partsOf } from './create-request';
import { TaskCalls, taskId } from './task-calls';
import { taskEndpoints as endpoints } from './tasks.endpoints';

type Shown = { [key: string]: Json };
type Reply = { task?: task.Task };

/** Everything that changes a task. */
@Controller()
export class TaskActionsController {
  constructor(
    @Inject(TaskCalls) private readonly calls: TaskCalls,
    @Inject(AuditStore) private readonly audit: AuditStore,
    @Inject(ApiConfig) private readonly config: ApiConfig,
  ) {}

  @Serves(endpoints.create)
  async create(
    @Input(endpoints.create) { body }: InputOf<typeof endpoints.create>,
    @From() from: Caller,
    @Headers('idempotency-key') given: string | undefined,
  ): Promise<Shown> {
    if (body.toolPolicy?.allowUnsandboxed && !mayAct(from.role, 'admin')) {
      throw new NightshiftError('PERMISSION_DENIED', 'toolPolicy.allowUnsandboxed needs a key with the role admin');
    }
    const idempotencyKey = idempotencyKeyOf(given) ?? v7();
    const request = createRequestOf(body, this.config.file, { keyId: from.keyId, idempotencyKey });
    const reply = await this.calls.ask(routes.taskCreate, from, request);
    if (!reply.existing) await this.audit.record(from, 'task.create', reply.task?.id ?? '', {});
    return shown(reply);
  }

  @Serves(endpoints.cancel)
  async cancel(
    @Input(endpoints.cancel) { params, body }: InputOf<typeof endpoints.cancel>,
    @From() from: Caller,
  ): Promise<Shown> {
    const id = taskId(params.id);
    const reply = await this.calls.ask(routes.taskCancel, from, { taskId: id, reason: body.reason ?? '' });
    await this.audit.record(from, 'task.cancel', id, {});
    return shown(reply);
  }

  @Serves(endpoints.pause)
  async pause(@Input(endpoints.pause) { params }: InputOf<typeof endpoints.pause>, @From() from: Caller): Promise<Shown> {
    const id = taskId(params.id);
    const reply = await this.calls.ask(routes.taskPause, from, { taskId: id });
    await this.audit.record(from, 'task.pause', id, {});
    return shown(reply);
  }

  @Serves(endpoints.resume)
  async resume(@Input(endpoints.resume) { params }: InputOf<typeof endpoints.resume>, @From() from: Caller): Promise<Shown> {
    const id = taskId(params.id);
    const reply = await this.calls.ask(routes.taskResume, from, { taskId: id });
    await this.audit.record(from, 'task.resume', id, {});
    return shown(reply);
  }

  @Serves(endpoints.send)
  async send(
    @Input(endpoints.send) { params, body }: InputOf<typeof endpoints.send>,
    @From() from: Caller,
    @Headers('idempotency-key') given: string | undefined,
  ): Promise<Shown> {
    const id = taskId(params.id);
    const messageId = idempotencyKeyOf(given) ?? v7();
    const origin = transcript.UserOrigin.STEER;
    const reply = await this.calls.ask(routes.taskSend, from, { taskId: id, messageId, origin, parts: partsOf(body) });
    await this.audit.record(from, 'task.send', id, { messageId });
    return shown(reply);
  }

  @Serves(endpoints.compact)
  async compact(
    @Input(endpoints.compact) { params, body }: InputOf<typeof endpoints.compact>,
    @From() from: Caller,
  ): Promise<Shown> {
    const id = taskId(params.id);
    const reply = await this.calls.show(routes.taskCompact, from, { taskId: id, focus: body.focus ?? '' });
    await this.audit.record(from, 'task.compact', id, {});
    return reply;
  }

  @Serves(endpoints.undo)
  async undo(@Input(endpoints.undo) { params }: InputOf<typeof endpoints.undo>, @From() from: Caller): Promise<Shown> {
    const id = taskId(params.id);
    const reply = await this.calls.ask(routes.taskUndo, from, { taskId: id });
    await this.audit.record(from, 'task.undo', id, {});
    return shown(reply);
  }
}

function shown(reply: Reply): Shown {
  if (!reply.task) throw new NightshiftError('INTERNAL', 'the orchestrator answered without a task');
  return present(task.TaskSchema, reply.task);
}
