import { z } from 'zod';
import type { Endpoint } from '../http/endpoint';
import { roles } from './keys';

const key = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string().describe('the first characters of the key'),
  role: z.enum(roles),
  createdAtMs: z.int(),
  lastUsedAtMs: z.int().describe('0 = never; exact to the minute'),
  revokedAtMs: z.int().describe('0 = valid'),
});

export const keyEndpoints = {
  create: {
    id: 'createKey',
    method: 'POST',
    path: '/v1/keys',
    tag: 'keys',
    summary: 'Makes an API key for the team. The key itself is in this answer and nowhere else.',
    role: 'admin',
    status: 201,
    body: z.strictObject({
      name: z.string().trim().min(1, 'must not be empty').max(100),
      role: z.enum(roles).default('member'),
    }),
    reply: { kind: 'shape', schema: key.extend({ key: z.string() }) },
  },
  list: {
    id: 'listKeys',
    method: 'GET',
    path: '/v1/keys',
    tag: 'keys',
    summary: 'Lists the API keys of the team, revoked ones included.',
    role: 'admin',
    status: 200,
    reply: { kind: 'shape', schema: z.object({ keys: z.array(key) }) },
  },
  revoke: {
    id: 'revokeKey',
    method: 'DELETE',
    path: '/v1/keys/:id',
    tag: 'keys',
    summary: 'Revokes an API key at once.',
    role: 'admin',
    status: 204,
    params: z.object({ id: z.string().max(100) }),
    reply: { kind: 'none' },
  },
} as const satisfies Record<string, Endpoint>;
