import { anthropicFormat } from '../formats/anthropic/anthropic';
import type { Format } from '../formats/format';
import { ollamaFormat } from '../formats/ollama/ollama';
import { openAiChatFormat } from '../formats/openai-chat/openai-chat';
import { openAiResponsesFormat } from '../formats/openai-responses/openai-responses';
import { vendorNames, type VendorName } from '../vendors/vendor-names';
import type { ModelRuntime, ServerRuntime } from './runtime';

export interface Resolved {
  readonly server: ServerRuntime;
  /** Below the prefix of the server. */
  readonly path: string;
  /** Vendor of models that name none; undefined where the path says nothing about it. */
  readonly vendor?: VendorName;
}

/** Codex reaches its backend under this path. */
const aliases: Readonly<Record<string, VendorName>> = { 'backend-api': 'codex', v1beta: 'gemini' };

/** Which server a path on the main port means: /servers/<name>/…, /<vendor>/…, or the cloud side without a vendor. */
export function resolve(
  path: string,
  cloud: ReadonlyMap<string, ServerRuntime>,
  servers: ReadonlyMap<string, ServerRuntime>,
): Resolved | undefined {
  const [, first = '', second = ''] = path.split('/', 3);
  if (first === 'servers') {
    const server = servers.get(second);
    return server === undefined ? undefined : { server, path: path.slice(`/servers/${second}`.length) || '/' };
  }
  const known = vendorNames.find((name) => name === first);
  const vendor = known ?? aliases[first];
  const server = cloud.get(vendor ?? 'openai');
  if (server === undefined) return undefined;
  const rest = known === undefined ? path : path.slice(known.length + 1);
  return { server, path: rest === '' ? '/' : rest, ...(vendor === undefined ? {} : { vendor }) };
}

/** The cloud side: one view per vendor on the same models. */
export function cloudServers(models: Map<string, ModelRuntime>): Map<string, ServerRuntime> {
  return new Map(
    vendorNames.map((kind) => [
      kind,
      { name: 'cloud', kind, cloud: true, router: false, version: undefined, key: undefined, models, mode: { mode: 'up' } },
    ]),
  );
}

export interface ModelRoute {
  readonly format: Format;
  readonly modelInPath?: string;
  readonly countOnly: boolean;
}

/** The format that a POST to this path speaks; undefined = not a model request. */
export function modelRoute(path: string): ModelRoute | undefined {
  if (path.endsWith('/v1/messages')) return { format: anthropicFormat, countOnly: false };
  if (path.endsWith('/v1/messages/count_tokens')) return { format: anthropicFormat, countOnly: true };
  const deployment = /\/deployments\/([^/]+)\/chat\/completions$/.exec(path)?.[1];
  if (deployment !== undefined)
    return { format: openAiChatFormat, modelInPath: decodeURIComponent(deployment), countOnly: false };
  if (path.endsWith('/chat/completions')) return { format: openAiChatFormat, countOnly: false };
  if (path.endsWith('/responses')) return { format: openAiResponsesFormat, countOnly: false };
  if (path.endsWith('/api/chat')) return { format: ollamaFormat, countOnly: false };
  return undefined;
}
