import { NightshiftError } from '@nightshift/contracts';
import type { z } from 'zod';

/** Where the parts of a request come from, each with its schema. */
export interface RequestSchemas {
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
}

/**
 * Parses all parts of a request and reports the faults of all of them at once.
 * @throws NightshiftError INVALID_ARGUMENT with one line per fault, `where: what was expected`.
 */
export function parseRequest(schemas: RequestSchemas, parts: { params: unknown; query: unknown; body: unknown }): ParsedRequest {
  const faults: string[] = [];
  const out: Record<string, unknown> = {};
  for (const part of ['params', 'query', 'body'] as const) {
    const schema = schemas[part];
    if (!schema) continue;
    const result = schema.safeParse(parts[part] ?? {});
    if (result.success) out[part] = result.data;
    else faults.push(...result.error.issues.map((issue) => faultOf(part, issue)));
  }
  if (faults.length > 0) {
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
    throw new NightshiftError('INVALID_ARGUMENT', `the request has ${count}`, { faults });
  }
  return { params: out.params, query: out.query, body: out.body };
}

export interface ParsedRequest {
  params: unknown;
  query: unknown;
  body: unknown;
}

function faultOf(part: string, issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.');
  const where = part === 'body' ? path || 'body' : `${part}${path ? `.${path}` : ''}`;
  return `${where}: ${issue.message}`;
}
