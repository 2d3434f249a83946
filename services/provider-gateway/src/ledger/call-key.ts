import { createHash } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { llm } from '@nightshift/contracts';

/** What makes two requests the same call. No delivery count: a redelivered step asks for the same thing. */
export interface CallKey {
  team: string;
  task: string;
  epoch: number;
  purpose: string;
  hash: string;
}

const { field } = llm.CompleteRequestSchema;

/** Where in the chain to start and what the caller measured are not among them: they do not change what is asked. */
const asked: ReadonlySet<number> = new Set(
  [field.chain, field.view, field.maxOutputTokens, field.toolChoice, field.temperature, field.hasTemperature].map(
    ({ number }) => number,
  ),
);

/**
 * @param encoded the request as it came. Hashed as bytes: encoding a long view again would cost more than everything else
 *   that happens to a call before it is sent.
 */
export function callKeyOf(
  team: string,
  request: llm.CompleteRequest,
  encoded: Uint8Array = toBinary(llm.CompleteRequestSchema, request),
): CallKey {
  const hash = createHash('sha256');
  const reader = new BinaryReader(encoded);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    reader.skip(wireType, number);
    if (asked.has(number)) hash.update(encoded.subarray(start, reader.pos));
  }
  return { team, task: request.taskId, epoch: request.epoch, purpose: request.purpose, hash: hash.digest('hex').slice(0, 32) };
}

export function keyText(key: CallKey): string {
  return JSON.stringify([key.team, key.task, key.epoch, key.purpose, key.hash]);
}
