import { createHash } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import { transcript, type llm } from '@nightshift/contracts';

/** What makes two requests the same call. No delivery count: a redelivered step asks for the same thing. */
export interface CallKey {
  team: string;
  task: string;
  epoch: number;
  purpose: string;
  hash: string;
}

/** Where in the chain to start and what the caller measured are left out: they do not change what is asked. */
export function callKeyOf(team: string, request: llm.CompleteRequest): CallKey {
  const hash = createHash('sha256');
  if (request.view) hash.update(toBinary(transcript.ViewSchema, request.view));
  const chain = request.chain.map((one) => [one.provider, one.model, one.endpoint]);
  const temperature = request.hasTemperature ? request.temperature : null;
  hash.update(JSON.stringify([chain, request.maxOutputTokens, request.toolChoice, temperature]));
  return { team, task: request.taskId, epoch: request.epoch, purpose: request.purpose, hash: hash.digest('hex').slice(0, 32) };
}

export function keyText(key: CallKey): string {
  return JSON.stringify([key.team, key.task, key.epoch, key.purpose, key.hash]);
}
