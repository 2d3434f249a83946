import type { Endpoint } from '../http/endpoint';

export const docsEndpoints = {
  openapi: {
    id: 'getOpenApi',
    method: 'GET',
    path: '/openapi.json',
    tag: 'docs',
    summary: 'This description.',
    role: 'public',
    status: 200,
    reply: { kind: 'page', mediaType: 'application/json' },
  },
  page: {
    id: 'getDocs',
    method: 'GET',
    path: '/docs',
    tag: 'docs',
    summary: 'This description as a page.',
    role: 'public',
    status: 200,
    reply: { kind: 'page', mediaType: 'text/html' },
  },
} as const satisfies Record<string, Endpoint>;
