import { derivedId, type Answer } from '../answer';
import type { FaultAction } from '../config/fault-spec';
import { inStreamProblem, problemOf } from '../faults/outcome';
import type { Format, Frame, WireRequest, WriteContext } from '../formats/format';
import type { PromptCache } from '../usage/prompt-cache';
import { Refusal, type Problem, type WireError } from '../vendors/problem';
import { admit } from './admit';
import { compose } from './compose';
import type { Interruption } from './playback';
import type { Received } from './receive';
import { load, windowOf, type ModelRuntime } from './runtime';

/** What will be put on the wire. */
export type Reply =
  | { readonly kind: 'error'; readonly error: WireError; readonly refused?: string }
  | { readonly kind: 'reset' | 'never' | 'headers_only' }
  | {
      readonly kind: 'stream';
      readonly frames: readonly Frame[];
      readonly firstTokenMs: number;
      readonly interruption?: Interruption;
      readonly answer?: Answer;
      readonly refused?: string;
    }
  | {
      readonly kind: 'whole';
      readonly json: string;
      readonly waitMs: number;
      readonly broken?: 'cut' | 'early_end';
      readonly answer?: Answer;
    };

export interface DecideContext {
  readonly format: Format;
  readonly mountName: string;
  readonly local: boolean;
  readonly cache: PromptCache;
  readonly nowMs: number;
  readonly number: number;
  readonly countOnly: boolean;
}

/** Faults first, as a vendor's edge would; then the vendor's own refusals; then the script's answer. */
export function decideReply(received: Received, context: DecideContext): Reply {
  const { model, request, problem, fault } = received;
  if (model !== undefined && fault !== undefined) {
    const replaced = replacedByFault(fault.action, received, model, context);
    if (replaced !== undefined) return replaced;
  }
  if (problem !== undefined) return refusal(problem, received, context);
  if (model === undefined || request === undefined) throw new Error('a request without a problem has a model');
  if (context.countOnly) return { kind: 'whole', json: JSON.stringify({ input_tokens: received.measured.total }), waitMs: 0 };
  if (request.loadOnly !== undefined) return loadOnly(model, request.loadOnly, model.name);
  try {
    return converse(received, model, request, context);
  } catch (error) {
    if (error instanceof Refusal) return refusal(error.problem, received, context);
    throw error;
  }
}

/** Ollama: a chat without messages loads the model, or unloads it. */
function loadOnly(model: ModelRuntime, order: 'load' | 'unload', name: string): Reply {
  if (order === 'unload') model.served = undefined;
  else load(model);
  const json = JSON.stringify({
    model: name,
    created_at: '2026-06-01T10:00:00Z',
    message: { role: 'assistant', content: '' },
    done_reason: order,
    done: true,
  });
  return { kind: 'whole', json, waitMs: order === 'load' ? model.spec.facts.loadMs : 0 };
}

export function requestIdOf(received: Received, number: number): string {
  return derivedId('req_sim', `${received.sha256}/${number}`, 0);
}

function vendorContext(
  received: Received,
  context: DecideContext,
): Pick<WriteContext, 'model' | 'format' | 'requestId' | 'nowMs'> {
  return {
    model: received.modelName,
    format: context.format.name,
    requestId: requestIdOf(received, context.number),
    nowMs: context.nowMs,
  };
}

function writeContext(received: Received, model: ModelRuntime, request: WireRequest, context: DecideContext): WriteContext {
  const kind = received.fault?.action.kind;
  return {
    ...vendorContext(received, context),
    spec: model.spec,
    vendor: received.vendor,
    request,
    ...(kind === 'no_usage' || kind === 'null_usage_chunks' ? { usageFault: kind } : {}),
  };
}

function replacedByFault(
  action: FaultAction,
  received: Received,
  model: ModelRuntime,
  context: DecideContext,
): Reply | undefined {
  const problem = problemOf(action, received.measured.total, model.spec);
  if (problem !== undefined) return { kind: 'error', error: received.vendor.refuse(problem, vendorContext(received, context)) };
  switch (action.kind) {
    case 'http':
      return { kind: 'error', error: { status: action.status, headers: action.headers, body: action.body } };
    case 'reset':
      return { kind: 'reset' };
    case 'no_response':
      return { kind: 'never' };
    case 'headers_only':
      return { kind: 'headers_only' };
    default:
      return undefined;
  }
}

function refusal(problem: Problem, received: Received, context: DecideContext): Reply {
  const refused = problem.kind === 'invalid' ? `invalid: ${problem.message}` : problem.kind;
  const { model, request, vendor } = received;
  const failedFrames = context.format.failedFrames;
  if (model !== undefined && request?.stream === true && problem.kind === 'overflow' && failedFrames !== undefined) {
    if (model.spec.refuseInStream ?? vendor.refusesInStream === true) {
      const frames = failedFrames(inStreamBody(problem, received, context), writeContext(received, model, request, context));
      return { kind: 'stream', frames, firstTokenMs: 0, refused };
    }
  }
  return { kind: 'error', error: vendor.refuse(problem, vendorContext(received, context)), refused };
}

function inStreamBody(problem: Problem, received: Received, context: DecideContext): unknown {
  const { vendor } = received;
  const about = vendorContext(received, context);
  return vendor.inStream === undefined ? vendor.refuse(problem, about).body : vendor.inStream(problem, about);
}

function converse(received: Received, model: ModelRuntime, request: WireRequest, context: DecideContext): Reply {
  const { format, nowMs } = context;
  const { spec, script } = model;
  const { vendor, measured, factor, fault } = received;
  // A request loads a model that is not in memory, and Ollama reloads one for another num_ctx.
  const loadsBefore = model.loads;
  if (context.local) load(model, request.numCtx);
  const loadMs = model.loads > loadsBefore ? spec.facts.loadMs : 0;
  const admitted = admit(request, measured, spec, windowOf(model), vendor, format);
  const move = script.next(request.conversation);
  const write = writeContext(received, model, request, context);
  if (move.fail === true) return { kind: 'error', error: vendor.refuse({ kind: 'server_error' }, write) };
  const mode = spec.cache ?? (format.name === 'anthropic' ? 'markers' : 'prefix');
  const scope = `${context.mountName}/${model.name}/${received.key}`;
  const answer = compose(move, {
    spec,
    model: model.name,
    format: format.name,
    shortCallIds: vendor.history === 'mistral',
    requestHash: received.sha256,
    nowMs,
    factor,
    ...admitted,
    cache: context.cache.visit(scope, request.segments, measured.cumulative, mode),
    ...(fault === undefined ? {} : { fault: fault.action }),
  });
  const slow = fault?.action.kind === 'slow_first_token' ? fault.action.ms : 0;
  const firstTokenMs = spec.latency.firstTokenMs + (move.waitMs ?? 0) + slow + loadMs;
  return request.stream
    ? streamed(answer, received, write, context, firstTokenMs)
    : whole(answer, received, write, context, firstTokenMs);
}

function streamed(answer: Answer, received: Received, write: WriteContext, context: DecideContext, firstTokenMs: number): Reply {
  const { format } = context;
  const action = received.fault?.action;
  let frames = action?.kind === 'empty_stream' ? format.emptyFrames(answer, write) : format.frames(answer, write);
  if (action?.kind === 'no_terminator') frames = frames.filter((frame) => frame.kind !== 'terminator');
  const interruption = action === undefined ? undefined : interruptionOf(action, received, write, context);
  // An error that comes before any content stands directly behind the opening frames.
  if (interruption?.kind === 'insert' && interruption.then === 'end' && interruption.afterDeltas === 0)
    frames = [...format.emptyFrames(answer, write), { kind: 'close', wire: interruption.wire }];
  return { kind: 'stream', frames, firstTokenMs, answer, ...(interruption === undefined ? {} : { interruption }) };
}

function interruptionOf(
  action: FaultAction,
  received: Received,
  write: WriteContext,
  context: DecideContext,
): Interruption | undefined {
  switch (action.kind) {
    case 'cut':
    case 'early_end':
      return { kind: action.kind, afterDeltas: action.afterDeltas };
    case 'stall':
      return { kind: 'stall', afterDeltas: action.afterDeltas, ms: action.ms };
    case 'malformed_chunk':
      return { kind: 'insert', afterDeltas: action.afterDeltas, wire: context.format.malformed, then: 'continue' };
    case 'raw_json_tail': {
      const wire = JSON.stringify({
        error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' },
      });
      return { kind: 'insert', afterDeltas: action.afterDeltas, wire, then: 'end' };
    }
    case 'error_in_200':
      return {
        kind: 'insert',
        afterDeltas: action.afterDeltas,
        wire: context.format.errorFrame(errorIn200(action, received, context), write, action.form),
        then: 'end',
      };
    default:
      return undefined;
  }
}

function errorIn200(action: Extract<FaultAction, { kind: 'error_in_200' }>, received: Received, context: DecideContext): unknown {
  if (action.as === 'type_message') return { error_type: 'server_error', error_message: 'The engine failed while generating.' };
  const spec = received.model?.spec;
  if (spec === undefined) throw new Error('a fault belongs to a model');
  return inStreamBody(inStreamProblem(action.as, received.measured.total, spec), received, context);
}

/** Not streamed: what cuts a stream cuts the body, what stalls it delays it. */
function whole(answer: Answer, received: Received, write: WriteContext, context: DecideContext, firstTokenMs: number): Reply {
  const action = received.fault?.action;
  if (action?.kind === 'error_in_200')
    return { kind: 'error', error: { status: 200, headers: {}, body: errorIn200(action, received, context) } };
  const { tokensPerSecond } = write.spec.latency;
  const generating = tokensPerSecond > 0 ? (answer.usage.output / tokensPerSecond) * 1000 : 0;
  const waitMs = firstTokenMs + generating + (action?.kind === 'stall' ? action.ms : 0);
  const broken =
    action?.kind === 'cut' ? 'cut' : action?.kind === 'early_end' || action?.kind === 'malformed_chunk' ? 'early_end' : undefined;
  return {
    kind: 'whole',
    json: JSON.stringify(context.format.body(answer, write)),
    waitMs,
    answer,
    ...(broken === undefined ? {} : { broken }),
  };
}
