import { Controller, Inject, Res } from '@nestjs/common';
import { NightshiftError, routes } from '@nightshift/contracts';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../auth/keys';
import { From, Input, Serves, type InputOf } from '../http/endpoint';
import { TaskCalls, taskId } from './task-calls';
import { taskReadEndpoints as endpoints } from './tasks.endpoints';

/** What compaction hides and what was too large for the transcript. */
@Controller()
export class ResultsController {
  constructor(@Inject(TaskCalls) private readonly calls: TaskCalls) {}

  @Serves(endpoints.result)
  async result(
    @Input(endpoints.result) { params }: InputOf<typeof endpoints.result>,
    @From() from: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const { task } = await this.calls.ask(routes.taskGet, from, { taskId: taskId(params.id) });
    if (!task) throw new NightshiftError('NOT_FOUND', `there is no task ${params.id}`);
    const pieces: Uint8Array[] = [];
    for (let offset = 0, more = true; more; ) {
      const piece = await this.calls.ask(routes.toolresultGet, from, { rootId: task.rootId, id: params.result, offset });
      pieces.push(piece.content);
      offset += piece.content.length;
      more = piece.more;
      // Always bytes to save, never a page: the content comes from a workspace and the type from a model's tool.
      void reply.header('x-sha256', piece.sha256).header('x-content-type-options', 'nosniff').type('application/octet-stream');
    }
    return Buffer.concat(pieces);
  }
}
