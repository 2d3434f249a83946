import { errorCodes } from '@nightshift/contracts';
import { z } from 'zod';
import type { Endpoint } from '../http/endpoint';
import type { Json } from '../http/present';
import { messageSchemas, referTo } from './message-schema';

type Object_ = { [key: string]: Json };

const problem = z.object({
  type: z.string().describe('urn:nightshift:problem:<code>'),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.enum(Object.keys(errorCodes) as [string, ...string[]]),
  faults: z.array(z.string()).optional().describe('every fault of the request, "where: what was expected"'),
  retryAfterMs: z.int().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** The OpenAPI 3.1 document of the given operations: bodies from their zod schemas, answers from the messages. */
export function openApi(endpoints: readonly Endpoint[], version: string): Object_ {
  const schemas = new Map<string, Object_>([['Problem', jsonSchema(problem, 'output')]]);
  const paths: Record<string, Object_> = {};
  for (const endpoint of endpoints) {
    if (endpoint.reply.kind === 'message') messageSchemas(endpoint.reply.desc, schemas);
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Nightshift',
      version,
      description: 'Long coding-agent tasks that never die of a full context window.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths: paths as Object_,
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
    },
    security: [{ bearer: [] }, { apiKey: [] }],
  };
}

function operation(endpoint: Endpoint): Object_ {
  const parameters: Json[] = [
    ...parametersOf('path', endpoint.params),
    ...parametersOf('query', endpoint.query),
    ...(endpoint.idempotencyKey ? [header('Idempotency-Key', 'a repeated request with the same key has one effect')] : []),
    ...(endpoint.reply.kind === 'events' ? [header('Last-Event-ID', 'go on after this event')] : []),
  ];
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.role === 'public' ? { security: [] } : { description: `Needs a key with the role ${endpoint.role}.` }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body
      ? {
          requestBody: {
            required: !endpoint.body.safeParse({}).success,
            content: { 'application/json': { schema: jsonSchema(endpoint.body, 'input') } },
          },
        }
      : {}),
    responses: { [String(endpoint.status)]: success(endpoint), default: failure() },
  };
}

function success({ reply }: Endpoint): Object_ {
  switch (reply.kind) {
    case 'message':
      return { description: 'done', content: { 'application/json': { schema: referTo(reply.desc) } } };
    case 'shape':
      return { description: 'done', content: { 'application/json': { schema: jsonSchema(reply.schema, 'output') } } };
    case 'events':
      return { description: 'the events, as they happen', content: { 'text/event-stream': { schema: { type: 'string' } } } };
    case 'page':
      return { description: 'the page', content: { [reply.mediaType]: { schema: {} } } };
    case 'none':
      return { description: 'done' };
  }
}

function failure(): Object_ {
  const schema = { $ref: '#/components/schemas/Problem' };
  return { description: 'what went wrong, every fault listed', content: { 'application/problem+json': { schema } } };
}

function parametersOf(place: 'path' | 'query', schema: z.ZodType | undefined): Json[] {
  if (!schema) return [];
  const { properties, required } = jsonSchema(schema, 'input') as { properties?: Record<string, Object_>; required?: string[] };
  return Object.entries(properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || (required ?? []).includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function header(name: string, description: string): Json {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Object_ {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Object_;
  return rest;
}
