import type { MessageInitShape } from '@bufbuild/protobuf';
import { NightshiftError, type provider as contract } from '@nightshift/contracts';
import { classify } from '../classify/classify';
import { classPolicies } from '../classify/error-class';
import { countOf, isObject, objectAt, parseJson, stringOf, type Json, type JsonObject } from '../classify/json';
import { withoutEndingSlash } from '../formats/sdk-request';
import { Exchange } from '../transport/exchange';
import type { HttpClient } from '../transport/http-client';
import type { StopSignal } from '../transport/stop-signal';
import type { ModelListStyle } from '../vendors/vendor';
import type { Provider } from './provider';

type Listed = MessageInitShape<typeof contract.ListedModelSchema>;
interface ListShape {
  path: string;
  rows(body: Json): JsonObject[];
  model(row: JsonObject): Listed;
}

const dataRows = (body: Json): JsonObject[] => rowsOf(isObject(body) ? body.data : undefined);
const tokens = (value: unknown): number => countOf(value) ?? 0;

/** Each vendor's list endpoint. Where a list has no figures, the names alone are of use. */
const shapes: Readonly<Record<Exclude<ModelListStyle, 'none'>, ListShape>> = {
  anthropic: {
    path: '/v1/models?limit=1000',
    rows: dataRows,
    model: (row) => ({
      id: stringOf(row.id),
      context: tokens(row.max_input_tokens),
      inputMax: tokens(row.max_input_tokens),
      outputMax: tokens(row.max_tokens),
    }),
  },
  openai: { path: '/models', rows: dataRows, model: (row) => ({ id: stringOf(row.id) }) },
  groq: {
    path: '/models',
    rows: dataRows,
    model: (row) => ({ id: stringOf(row.id), context: tokens(row.context_window), outputMax: tokens(row.max_completion_tokens) }),
  },
  mistral: {
    path: '/models',
    rows: dataRows,
    model: (row) => ({ id: stringOf(row.id), context: tokens(row.max_context_length) }),
  },
  openrouter: {
    path: '/models',
    rows: dataRows,
    // `context_length` is the largest of all upstreams; the one that answers by default counts.
    model: (row) => {
      const top = objectAt(row, 'top_provider');
      return {
        id: stringOf(row.id),
        context: tokens(top.context_length) || tokens(row.context_length),
        outputMax: tokens(top.max_completion_tokens),
      };
    },
  },
  gemini: {
    // The native list has the figures; the compatible route's base ends in /openai.
    path: '/../models?pageSize=1000',
    rows: (body) => rowsOf(isObject(body) ? body.models : undefined),
    model: (row) => ({
      id: stringOf(row.name).replace(/^models\//, ''),
      context: tokens(row.inputTokenLimit),
      inputMax: tokens(row.inputTokenLimit),
      outputMax: tokens(row.outputTokenLimit),
    }),
  },
  ollama: {
    path: '/api/tags',
    rows: (body) => rowsOf(isObject(body) ? body.models : undefined),
    model: (row) => ({ id: stringOf(row.name) }),
  },
};

function rowsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * Asks a provider for its models; undefined when the vendor has no list.
 * @throws NightshiftError the class of the provider's answer
 */
export async function listModels(
  provider: Provider,
  client: HttpClient,
  signal: StopSignal,
  now: number,
): Promise<Listed[] | undefined> {
  const style = provider.vendor.models;
  if (style === 'none') return undefined;
  const shape = shapes[style];
  const exchange = new Exchange(client, { ...provider.clocks, headers: 15_000, firstContent: 15_000, total: 20_000 }, signal);
  try {
    await exchange.send(
      new URL(withoutEndingSlash(provider.target.baseUrl) + shape.path).href,
      'GET',
      headersFor(provider),
      undefined,
    );
    const failure = { status: exchange.status, headers: exchange.headers, text: exchange.errorText, inBand: false };
    if (exchange.status >= 300) throw failureError(classify(failure, now));
    const body = parseJson((await exchange.body()).toString('utf8'));
    return body === undefined
      ? []
      : shape
          .rows(body)
          .map(shape.model)
          .filter((model) => model.id);
  } catch (error) {
    if (exchange.fault)
      throw failureError(classify({ status: 0, headers: {}, text: '', inBand: false, fault: exchange.fault }, now));
    throw error;
  } finally {
    exchange.finish();
  }
}

function failureError(failure: ReturnType<typeof classify>): NightshiftError {
  return new NightshiftError(classPolicies[failure.class].code, `model list: ${failure.message.slice(0, 500)}`, {
    details: { class: failure.class, status: failure.status },
  });
}

function headersFor(provider: Provider): Record<string, string> {
  const { apiKey, quirks, headers } = provider.target;
  const key: Record<string, string> = {};
  if (apiKey) {
    if (provider.vendor.models === 'gemini') key['x-goog-api-key'] = apiKey;
    else if (quirks.auth === 'x-api-key') key['x-api-key'] = apiKey;
    else if (quirks.auth === 'api-key') key['api-key'] = apiKey;
    else key.authorization = `Bearer ${apiKey}`;
  }
  return {
    accept: 'application/json',
    ...(provider.vendor.format === 'anthropic-messages' ? { 'anthropic-version': '2023-06-01' } : {}),
    ...key,
    ...headers,
  };
}
