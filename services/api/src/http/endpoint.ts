import {
  applyDecorators,
  createParamDecorator,
  HttpCode,
  RequestMapping,
  RequestMethod,
  type ExecutionContext,
} from '@nestjs/common';
import type { DescMessage } from '@bufbuild/protobuf';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Caller, Role } from '../auth/keys';
import { parseRequest } from './parse';

/**
 * One operation of the HTTP API. The routes of the server, the checks of a request and the OpenAPI document all come
 * from these rows, so they cannot differ.
 */
export interface Endpoint<P extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  /** operationId of the OpenAPI document. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Fastify's notation: `/v1/tasks/:id`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** The least role that may call it; `public` needs no key. */
  readonly role: Role | 'public';
  readonly status: 200 | 201 | 202 | 204;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly reply: Reply;
  /** A repeated request with the same Idempotency-Key has one effect. */
  readonly idempotencyKey?: boolean;
}

/** What an operation answers: a message of the bus, a shape described by zod, an event stream, a page, or nothing. */
export type Reply =
  | { kind: 'message'; desc: DescMessage }
  | { kind: 'shape'; schema: z.ZodType }
  | { kind: 'events' }
  | { kind: 'page'; mediaType: string }
  | { kind: 'none' };

type Output<T> = T extends z.ZodType ? z.output<T> : undefined;
export interface InputOf<E extends Endpoint> {
  params: Output<E['params']>;
  query: Output<E['query']>;
  body: Output<E['body']>;
}

const methods = {
  GET: RequestMethod.GET,
  POST: RequestMethod.POST,
  PUT: RequestMethod.PUT,
  DELETE: RequestMethod.DELETE,
} as const;

/** Binds a controller method to its row. */
export function Serves(endpoint: Endpoint): MethodDecorator {
  return applyDecorators(RequestMapping({ path: endpoint.path, method: methods[endpoint.method] }), HttpCode(endpoint.status));
}

/** The checked input of a request: `@Input(endpoint) input: InputOf<typeof endpoint>`. */
export const Input = createParamDecorator((endpoint: Endpoint, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return parseRequest(endpoint, request);
});

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read, for every operation that needs a key. */
    caller?: Caller;
  }
}

/** Who calls. */
export const From = createParamDecorator((_: undefined, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!caller) throw new Error('a public operation has no caller');
  return caller;
});
