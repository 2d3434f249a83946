import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseConfig, type SimulatorConfigInput } from '../config/config';
import { seededRandom } from '../faults/choose';
import { anthropicFormat } from '../formats/anthropic/anthropic';
import type { Format } from '../formats/format';
import { openAiChatFormat } from '../formats/openai-chat/openai-chat';
import { PromptCache } from '../usage/prompt-cache';
import { exchange, type ExchangeServices } from './exchange';
import { banner } from './perform';
import type { Mount } from './receive';
import { RequestLog, type LogLine } from './request-log';
import { createModel, type ModelRuntime } from './runtime';

export interface SimulatorOptions {
  /** Checked; an error lists every fault in it. */
  readonly config: SimulatorConfigInput;
  /** 0 = any free one. */
  readonly port?: number;
  readonly logFile?: string;
}

export interface Simulator {
  readonly url: string;
  /** Address of each server of the configuration. */
  readonly servers: Readonly<Record<string, string>>;
  readonly requests: () => readonly LogLine[];
  readonly stop: () => Promise<void>;
}

/** Longer than any client keeps an idle connection, else a reused one is reset under it. */
const KEEP_ALIVE_MS = 120_000;

const routes: readonly { readonly suffix: string; readonly format: Format }[] = [
  { suffix: '/v1/messages', format: anthropicFormat },
  { suffix: '/chat/completions', format: openAiChatFormat },
];

/** Starts the scripted model server on the loopback interface. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const config = parseConfig(options.config);
  const log = new RequestLog(options.logFile);
  const models = new Map(
    Object.entries(config.models).map(([name, spec]): [string, ModelRuntime] => [name, createModel(name, spec)]),
  );
  const mount: Mount = { name: 'cloud', models };
  const services: ExchangeServices = { log, cache: new PromptCache(), random: seededRandom(config.seed), startedMs: Date.now() };
  const server = createServer((incoming, response) => {
    handle(incoming, response, mount, services).catch((error: unknown) => {
      // A fault of the simulator itself must not look like one that was ordered.
      console.error('nightshift-model-simulator failed:', error);
      response.destroy();
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = 0;
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    servers: {},
    requests: () => log.recent(),
    stop: () => close(server),
  };
}

async function handle(
  incoming: IncomingMessage,
  response: ServerResponse,
  mount: Mount,
  services: ExchangeServices,
): Promise<void> {
  const path = (incoming.url ?? '/').split('?', 1)[0] ?? '/';
  const route = routes.find(({ suffix }) => path.endsWith(suffix));
  if (incoming.method === 'POST' && route !== undefined) {
    await exchange(incoming, response, { path, format: route.format, mount }, services);
    return;
  }
  incoming.resume();
  const text = JSON.stringify({
    error: { message: `nightshift-model-simulator: no such path ${path}`, type: 'not_found_error' },
  });
  response.writeHead(404, { ...banner, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) });
  response.end(text);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
