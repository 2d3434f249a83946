import type { Endpoint } from '../http/endpoint';
import { eventsQuery, taskParams } from '../tasks/tasks.schemas';

export const eventEndpoints = {
  follow: {
    id: 'followTask',
    method: 'GET',
    path: '/v1/tasks/:id/events',
    tag: 'tasks',
    summary:
      'Follows a task (server-sent events). `task` carries a recorded event and its number as id; `delta` and `tool_output` ' +
      'carry pieces that are not kept; `end` comes last. Goes on after Last-Event-ID or `after`.',
    role: 'reader',
    status: 200,
    params: taskParams,
    query: eventsQuery,
    reply: { kind: 'events' },
  },
} as const satisfies Record<string, Endpoint>;
