import { Controller, Headers, Inject, Res } from '@nestjs/common';
import { NightshiftError, routes, task } from '@nightshift/contracts';
import { type GaugeOf, Metrics } from '@nightshift/metrics';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../auth/keys';
import { From, Input, Serves, type InputOf } from '../http/endpoint';
import { present } from '../http/present';
import { problemOf } from '../http/problem';
import { TaskCalls, taskId } from '../tasks/task-calls';
import { eventEndpoints } from './events.endpoints';
import { EventsHub } from './events.hub';
import { followTask } from './follow-task';
import { SseResponse } from './sse';

const pageSize = 200;

@Controller()
export class EventsController {
  private readonly open: GaugeOf<'sse_streams'>;

  constructor(
    @Inject(TaskCalls) private readonly calls: TaskCalls,
    @Inject(EventsHub) private readonly hub: EventsHub,
    @Inject(Metrics) metrics: Metrics,
  ) {
    this.open = metrics.gauge('sse_streams');
  }

  @Serves(eventEndpoints.follow)
  async follow(
    @Input(eventEndpoints.follow) { params, query }: InputOf<typeof eventEndpoints.follow>,
    @From() from: Caller,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const id = taskId(params.id);
    const after = startOf(lastEventId, query.after);
    // Before the stream begins: afterwards a 404 could no longer be said.
    await this.calls.ask(routes.taskGet, from, { taskId: id });
    reply.hijack();
    const stream = new SseResponse(reply.raw);
    this.open.inc();
    const signal = AbortSignal.any([stream.closed, this.hub.shutdown]);
    const source = {
      query: (afterSeq: number) => this.calls.ask(routes.taskEvents, from, { taskId: id, afterSeq, limit: pageSize }),
      onChanged: (wake: (lastSeq: number) => void) => this.hub.onChanged(id, wake),
      onLive: (show: Parameters<EventsHub['onLive']>[2]) => this.hub.onLive(from.teamId, id, show),
    };
    let ended = false;
    const sink = {
      event: (seq: number, data: Parameters<SseResponse['send']>[1]) => stream.send('task', data, seq),
      live: (type: string, data: Parameters<SseResponse['send']>[1]) => stream.sendLive(type, data),
      end: () => (ended = true),
    };
    try {
      await followTask(source, sink, after, signal);
      if (!ended) return stream.end('bye', { reason: 'the server is going down; come back with Last-Event-ID' });
      const last = await this.calls.ask(routes.taskGet, from, { taskId: id });
      stream.end('end', present(task.GetReplySchema, last));
    } catch (thrown) {
      // A stream reports its own failure as its last event.
      stream.end('error', { ...problemOf(NightshiftError.from(thrown), `/v1/tasks/${id}/events`) });
    } finally {
      this.open.dec();
    }
  }
}

function startOf(lastEventId: string | undefined, after: number | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return after ?? 0;
  if (/^\d{1,10}$/.test(lastEventId)) return Number(lastEventId);
  throw new NightshiftError('INVALID_ARGUMENT', 'the request has one fault', {
    faults: ['Last-Event-ID: expected the id of an event of this stream'],
  });
}
