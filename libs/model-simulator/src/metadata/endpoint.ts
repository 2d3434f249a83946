import type { JsonObject } from '../json';
import type { ServerRuntime } from '../server/runtime';

export interface MetadataRequest {
  readonly method: string;
  /** Below the prefix of the server. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: JsonObject;
  readonly nowMs: number;
}

export interface MetadataReply {
  readonly status: number;
  readonly body: unknown;
}

/** The metadata endpoints of one kind of server; undefined = it has no such path. */
export type Metadata = (server: ServerRuntime, request: MetadataRequest) => MetadataReply | undefined;

export function found(body: unknown): MetadataReply {
  return { status: 200, body };
}

/** Leaves out what this version of the server does not know yet. */
export function without<T extends JsonObject>(row: T, fields: readonly string[]): JsonObject {
  return fields.length === 0 ? row : Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name)));
}

/** The list shape that all OpenAI-compatible servers share. */
export function openAiList(data: readonly unknown[]): MetadataReply {
  return found({ object: 'list', data });
}
