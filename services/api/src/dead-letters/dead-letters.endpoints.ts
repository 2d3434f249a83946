import { deadletter } from '@nightshift/contracts';
import { z } from 'zod';
import type { Endpoint } from '../http/endpoint';

const params = z.object({ id: z.string().max(100) });
const body = z.strictObject({});
const one = { kind: 'message', desc: deadletter.DeadLetterSchema } as const;

export const deadLetterEndpoints = {
  list: {
    id: 'listDeadLetters',
    method: 'GET',
    path: '/v1/dead-letters',
    tag: 'operations',
    summary: 'Messages that could not be handled, with the reason.',
    role: 'admin',
    status: 200,
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(500).default(100),
      state: z.enum(['waiting', 'retried', 'discarded']).optional(),
    }),
    reply: { kind: 'message', desc: deadletter.ListReplySchema },
  },
  retry: {
    id: 'retryDeadLetter',
    method: 'POST',
    path: '/v1/dead-letters/:id/retry',
    tag: 'operations',
    summary: 'Sends a dead letter again under a new message id.',
    role: 'admin',
    status: 200,
    params,
    body,
    reply: one,
  },
  discard: {
    id: 'discardDeadLetter',
    method: 'POST',
    path: '/v1/dead-letters/:id/discard',
    tag: 'operations',
    summary: 'Marks a dead letter as done with; it stays in the list.',
    role: 'admin',
    status: 200,
    params,
    body,
    reply: one,
  },
} as const satisfies Record<string, Endpoint>;
