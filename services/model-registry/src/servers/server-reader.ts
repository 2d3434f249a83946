import { NightshiftError } from '@nightshift/contracts';
import { z } from 'zod';
import type { JsonClient } from '../poll/json-client';
import type { PolledFigures } from '../windows/window.store';

export interface Poll {
  models: PolledFigures[];
  version: string;
  /** Rows that were refused, shown with the endpoint. */
  remarks: string[];
}

/** One kind of local server. Polling must never load or wake a model. */
export interface ServerReader {
  poll(client: JsonClient): Promise<Poll>;
  /** Loads one model; only at the start of a task that is about to use it. */
  load?(client: JsonClient, model: string, options: { numCtx: number; signal: AbortSignal }): Promise<void>;
}

const mostModels = 2_000;
const mostTokens = 100_000_000;

/** A number of tokens; anything else in its place is refused with the row. */
export const tokens = z.int().min(1).max(mostTokens);
/** A field that may be missing or null. */
export const optionalTokens = tokens.nullish();
export const modelId = z.string().min(1).max(300);

/** The answer's frame; a wrong one refuses the whole answer. */
export function frame<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new NightshiftError(
    'FAILED_PRECONDITION',
    `${what}: ${issue?.path.join('.') || 'answer'}: ${issue?.message ?? 'not as expected'}`,
  );
}

/** Rows one by one: a wrong row is left out with a remark, and its model keeps what was known. */
export function rows<T>(schema: z.ZodType<T>, answers: readonly unknown[], what: string, remarks: string[]): T[] {
  if (answers.length > mostModels) {
    throw new NightshiftError('FAILED_PRECONDITION', `${what}: lists ${answers.length} models, at most ${mostModels} are taken`);
  }
  return answers.flatMap((answer, index) => {
    const parsed = schema.safeParse(answer);
    if (parsed.success) return [parsed.data];
    const issue = parsed.error.issues[0];
    remarks.push(`${what}: row ${index}: ${issue?.path.join('.') || 'row'}: ${issue?.message ?? 'not as expected'}`);
    return [];
  });
}

/** At most `width` at a time, in order of their end. */
export async function eachOf<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
