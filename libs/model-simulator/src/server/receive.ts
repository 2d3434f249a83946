import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FaultSpec } from '../config/fault-spec';
import { chooseFault } from '../faults/choose';
import type { Format, WireRequest } from '../formats/format';
import { isObject, textOf, type JsonObject } from '../json';
import { purposeOf } from '../scripts/purpose';
import { measure, type Measured } from '../usage/measure';
import { invalid, Refusal, type Problem } from '../vendors/problem';
import type { Vendor } from '../vendors/vendor';
import type { VendorName } from '../vendors/vendor-names';
import { vendorFor } from '../vendors/vendors';
import { answersFormat, type ModelRuntime } from './runtime';

/** A place in the URL space with its own models. */
export interface Mount {
  readonly name: string;
  readonly models: ReadonlyMap<string, ModelRuntime>;
  /** Models are loaded into memory, with a window that may differ from request to request. */
  readonly local: boolean;
  /** Vendor of models that name none; absent = the format's own. */
  readonly vendor?: VendorName;
}

export interface Arrival {
  readonly raw: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly format: Format;
  readonly mount: Mount;
  readonly nowMs: number;
  readonly msSinceStart: number;
  readonly random: () => number;
  /** Gemini and Azure put the model into the path. */
  readonly modelInPath?: string;
  /** Only the token count is asked for. */
  readonly countOnly: boolean;
}

/** What is known of a request before it is answered. */
export interface Received {
  readonly sha256: string;
  readonly modelName: string;
  readonly vendor: Vendor;
  readonly factor: number;
  readonly key: string;
  readonly model?: ModelRuntime;
  readonly requestNumber: number;
  readonly request?: WireRequest;
  readonly measured: Measured;
  readonly purpose: string;
  readonly fault?: FaultSpec;
  /** Why the request itself is refused. */
  readonly problem?: Problem;
}

const unmeasured: Measured = { total: 0, cumulative: [], tools: 0 };

/** Reads and measures a request as strictly as its vendor, counts it, and chooses the fault that it meets. */
export function receive(arrival: Arrival): Received {
  const { raw, format, mount } = arrival;
  const sha256 = createHash('sha256').update(raw).digest('hex');
  const key = keyOf(arrival.headers);
  const body = parseBody(raw);
  const modelName = arrival.modelInPath ?? textOf(body?.['model']);
  const model = mount.models.get(modelName);
  const vendor = vendorFor(model?.spec.vendor, mount.vendor, format.name);
  const factor = model?.spec.tokenFactor ?? format.tokenFactor;
  const base = { sha256, modelName, vendor, factor, key, requestNumber: 0, measured: unmeasured, purpose: 'unknown' };
  if (body === undefined) return { ...base, problem: invalid('We could not parse the JSON body of your request.').problem };
  if (model === undefined || !answersFormat(model.spec, format.name)) return { ...base, problem: { kind: 'model_not_found' } };
  // Counting asks for no output and is not a request to the model.
  if (arrival.countOnly)
    return { ...base, model, ...readStrictly(arrival, { ...body, max_tokens: 1 }, model, vendor, factor, key) };
  const requestNumber = ++model.requests;
  const read = readStrictly(arrival, body, model, vendor, factor, key);
  const fault = chooseFault(
    model.faults,
    {
      request: requestNumber,
      input: read.measured.total,
      stream: body['stream'] === true,
      summary: read.purpose === 'summary',
      summariesBefore: model.summaries,
      raw: () => raw.toString('utf8'),
      msSinceStart: arrival.msSinceStart,
    },
    arrival.random,
  );
  if (read.purpose === 'summary') model.summaries++;
  return { ...base, ...read, model, requestNumber, ...(fault === undefined ? {} : { fault }) };
}

type StrictReading = Pick<Received, 'measured' | 'purpose' | 'request' | 'problem'>;

function readStrictly(
  arrival: Arrival,
  body: JsonObject,
  model: ModelRuntime,
  vendor: Vendor,
  factor: number,
  key: string,
): StrictReading {
  const { spec } = model;
  const refused = (problem: Problem): StrictReading => ({ measured: unmeasured, purpose: 'unknown', problem });
  if (arrival.raw.length > spec.requestBytesMax)
    return refused({ kind: 'too_large', bytes: arrival.raw.length, limit: spec.requestBytesMax });
  if (spec.keys === undefined ? vendor.needsKey && key === '' : !spec.keys.includes(key)) return refused({ kind: 'auth' });
  try {
    const request = arrival.format.read(body, spec, vendor);
    const measured = measure(request.segments, spec, factor, request.conversation.tools.length > 0);
    return { request, measured, purpose: purposeOf(request.conversation) };
  } catch (error) {
    if (error instanceof Refusal) return refused(error.problem);
    throw error;
  }
}

function parseBody(raw: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function keyOf(headers: IncomingHttpHeaders): string {
  const named = headers['x-api-key'] ?? headers['api-key'] ?? headers['x-goog-api-key'];
  if (typeof named === 'string') return named;
  return /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}
