import { countOf, isObject, objectAt, stringOf, type Json, type JsonObject } from './json';

/** The one shape every vendor's error is read into. Empty strings and 0 stand for "not given". */
export interface Envelope {
  message: string;
  /** The vendor's code as text ("context_length_exceeded", "1302"); a three-digit HTTP status goes to `status`. */
  code: string;
  type: string;
  param: string;
  /** A status inside the body, which counts where the HTTP status is 200. */
  status: number;
  /** Where a limit comes from, for vendors that say so (OpenRouter `limit_source`, Gemini quota ids, Anthropic details). */
  marks: string[];
  /** Structured sizes (llama.cpp). */
  promptTokens: number | undefined;
  contextTokens: number | undefined;
  retryDelay: string;
  resetsInSeconds: number | undefined;
  resetsAtSeconds: number | undefined;
}

const nothing: Envelope = {
  message: '',
  code: '',
  type: '',
  param: '',
  status: 0,
  marks: [],
  promptTokens: undefined,
  contextTokens: undefined,
  retryDelay: '',
  resetsInSeconds: undefined,
  resetsAtSeconds: undefined,
};

/**
 * Finds the error object of a body or frame, whatever the HTTP status; undefined when it holds none.
 * `{"error": null}` is no error, `{"error": {}}` of a failed Responses stream is one.
 */
export function errorIn(body: Json | undefined): JsonObject | string | undefined {
  if (Array.isArray(body)) return body.length > 0 ? errorIn(body[0]) : undefined;
  if (!isObject(body)) return undefined;
  if (typeof body.error === 'string' && body.error) return xai(body);
  if (isObject(body.error)) return { ...siblings(body), ...body.error };
  const response = objectAt(body, 'response');
  if (body.type === 'response.failed') {
    const nested = isObject(response.error) ? response.error : objectAt(objectAt(response, 'status_details'), 'error');
    return { type: 'response.failed', ...nested };
  }
  if (body.type === 'error' || body.object === 'error') return body;
  if (stringOf(body.error_type) || stringOf(body.error_message)) {
    return { type: body.error_type, message: body.error_message };
  }
  const base = objectAt(body, 'base_resp');
  if (countOf(base.status_code)) return { code: `base_resp.${base.status_code}`, message: base.status_msg };
  return undefined;
}

/** The same, for a body that came with an error status: there any object will do. */
export function errorOfFailedBody(body: Json | undefined): JsonObject | string | undefined {
  const found = errorIn(body);
  if (found !== undefined) return found;
  const first = Array.isArray(body) ? body[0] : body;
  return isObject(first) ? first : undefined;
}

/** xAI: `error` is the text and `code` is prose. */
function xai(body: JsonObject): JsonObject {
  return { ...siblings(body), message: body.error, type: body.code };
}

/** Fields that stand beside `error` and belong to it. */
function siblings(body: JsonObject): JsonObject {
  const { status_code, headers } = body;
  return { ...(status_code !== undefined ? { status_code } : {}), ...(headers !== undefined ? { headers } : {}) };
}

export function readEnvelope(error: JsonObject | string | undefined, text: string): Envelope {
  if (error === undefined) return { ...nothing, message: text.slice(0, 4_000) };
  if (typeof error === 'string') return { ...nothing, message: error };
  const code = codeOf(error);
  const metadata = objectAt(error, 'metadata');
  const inner = objectAt(error, 'error');
  const raw = typeof metadata.raw === 'string' ? ` ${metadata.raw}` : '';
  return {
    message: (stringOf(error.message) || stringOf(error.detail) || stringOf(inner.message)) + raw,
    code: code.text,
    type: none(stringOf(error.type) || stringOf(error.status) || stringOf(error.__type)),
    param: none(stringOf(error.param)),
    status: code.status,
    marks: marksOf(error),
    promptTokens: countOf(error.n_prompt_tokens),
    contextTokens: countOf(error.n_ctx),
    retryDelay: retryDelayOf(error),
    resetsInSeconds: countOf(error.resets_in_seconds),
    resetsAtSeconds: countOf(error.resets_at),
  };
}

/** LiteLLM writes Python's None as text. */
function none(text: string): string {
  return text === 'None' ? '' : text;
}

function codeOf(error: JsonObject): { text: string; status: number } {
  const status =
    countOf(error.status_code) ?? httpStatus(error.http_code) ?? httpStatus(error.status) ?? httpStatus(error.code) ?? 0;
  const code = typeof error.code === 'number' ? String(error.code) : none(stringOf(error.code));
  return { text: httpStatus(error.code) === undefined ? code : '', status };
}

/** A number or digits that are an HTTP error status: 400 and "400" are, 1302 and 2013 are not. */
function httpStatus(value: Json | undefined): number | undefined {
  const number = typeof value === 'number' ? value : typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : NaN;
  return Number.isInteger(number) && number >= 400 && number < 600 ? number : undefined;
}

function marksOf(error: JsonObject): string[] {
  const marks = [
    stringOf(objectAt(error, 'metadata').limit_source),
    stringOf(objectAt(error, 'metadata').error_type),
    stringOf(objectAt(error, 'details').error_code),
    stringOf(objectAt(error, 'innererror').code),
  ];
  for (const detail of Array.isArray(error.details) ? error.details : []) {
    if (!isObject(detail)) continue;
    marks.push(stringOf(detail.reason));
    for (const violation of Array.isArray(detail.violations) ? detail.violations : []) {
      marks.push(stringOf(isObject(violation) ? violation.quotaId : undefined));
    }
  }
  return marks.filter((mark) => mark !== '');
}

function retryDelayOf(error: JsonObject): string {
  for (const detail of Array.isArray(error.details) ? error.details : []) {
    const delay = isObject(detail) ? stringOf(detail.retryDelay) : '';
    if (delay) return delay;
  }
  return '';
}
