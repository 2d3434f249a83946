import type { IncomingHttpHeaders } from 'node:http';
import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { parseCandidate } from '@nightshift/config';
import { llm, NightshiftError } from '@nightshift/contracts';
import { isObject, parseJson } from '../classify/json';
import type { NativeRequest } from '../core/gateway-event';
import { newId } from '../new-id';
import { formatNames, type FormatName } from '../formats/format';

/** One request of the internal route, checked. */
export interface InternalRequest {
  team: string;
  request: llm.CompleteRequest;
  native: NativeRequest | undefined;
  stream: boolean;
  deadlineMs: number;
}

const defaultDeadlineMs = 900_000;

/**
 * `ns-team` is required. Without `ns-format` the body is a CompleteRequest as JSON; with it the body is a request of that
 * format, and `ns-chain` names the candidates ("provider/model, provider/model").
 * @throws NightshiftError INVALID_ARGUMENT with every fault
 */
export function internalRequest(headers: IncomingHttpHeaders, body: Buffer, now: number): InternalRequest {
  const faults: string[] = [];
  const team = text(headers['ns-team']);
  if (!/^[\w-]+$/.test(team)) faults.push('ns-team: expected a team id');
  const parsed = parseJson(body.toString('utf8'));
  if (!isObject(parsed)) faults.push('body: expected a JSON object');
  const format = text(headers['ns-format']);
  if (format && !isFormat(format)) faults.push(`ns-format: expected one of ${formatNames.join(', ')}`);
  const deadline = text(headers['ns-deadline']);
  if (deadline && !/^\d+$/.test(deadline)) faults.push('ns-deadline: expected milliseconds since 1970');
  const chain = format ? chainOf(text(headers['ns-chain']), faults) : [];
  if (faults.length > 0 || !isObject(parsed))
    throw new NightshiftError('INVALID_ARGUMENT', 'the request is not valid', { faults });
  const common = { team, deadlineMs: deadline ? Number(deadline) : now + defaultDeadlineMs };
  if (isFormat(format)) {
    const request = create(llm.CompleteRequestSchema, { taskId: newId(), purpose: 'front_door', chain });
    const stream = format === 'ollama-chat' ? parsed.stream !== false : parsed.stream === true;
    return { ...common, request, native: { format, body, fields: parsed }, stream };
  }
  let request: llm.CompleteRequest;
  try {
    request = fromJson(llm.CompleteRequestSchema, parsed as JsonValue);
  } catch (cause) {
    throw new NightshiftError('INVALID_ARGUMENT', 'the request is not valid', {
      cause,
      faults: [`body: ${cause instanceof Error ? cause.message : String(cause)}`],
    });
  }
  request.taskId ||= newId();
  return { ...common, request, native: undefined, stream: text(headers['ns-unstreamed']) !== 'true' };
}

function text(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

function isFormat(name: string): name is FormatName {
  return (formatNames as readonly string[]).includes(name);
}

const chains = new Map<string, readonly llm.Candidate[]>();

/** Chains are few and come with every request. */
function chainOf(header: string, faults: string[]): llm.Candidate[] {
  const known = chains.get(header);
  if (known) return [...known];
  const before = faults.length;
  const names = header
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) faults.push('ns-chain: expected "provider/model", several separated by commas');
  const chain = names.flatMap((name) => {
    try {
      return [create(llm.CandidateSchema, parseCandidate(name))];
    } catch (error) {
      faults.push(`ns-chain: ${NightshiftError.from(error).text}`);
      return [];
    }
  });
  if (faults.length > before) return [];
  if (chains.size > 1_000) chains.clear();
  chains.set(header, chain);
  return [...chain];
}
