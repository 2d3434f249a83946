import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseConfig, type SimulatorConfigInput } from '../config/config';
import { seededRandom } from '../faults/choose';
import { isLocal } from '../metadata/metadata';
import { countTokens } from '../tokens/counter';
import { PromptCache } from '../usage/prompt-cache';
import { CannedAnswers } from './canned';
import { administer, type AdminState } from './admin';
import { exchange, type ExchangeServices } from './exchange';
import { Listener } from './listener';
import { metadataExchange } from './metadata-exchange';
import { presence } from './presence';
import { isModelLine, RequestLog, type LogLine, type MetadataLine } from './request-log';
import { cloudServers, modelRoute, resolve, type Resolved } from './resolve';
import { createModel, createServerRuntime, type ServerRuntime } from './runtime';

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
  /** Model requests, oldest first. */
  readonly requests: () => readonly LogLine[];
  /** Requests for metadata, oldest first. */
  readonly polls: () => readonly MetadataLine[];
  readonly stop: () => Promise<void>;
}

/** Starts the scripted model server on the loopback interface. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const config = parseConfig(options.config);
  // The tokenizer takes a third of a second to load: before "ready", not inside the first request.
  countTokens('warm');
  const log = new RequestLog(options.logFile);
  const services: ExchangeServices = { log, cache: new PromptCache(), random: seededRandom(config.seed), startedMs: Date.now() };
  const cloudModels = new Map(Object.entries(config.models).map(([name, spec]) => [name, createModel(name, spec)]));
  const cloud = cloudServers(cloudModels);
  const servers = new Map(Object.entries(config.servers).map(([name, spec]) => [name, createServerRuntime(name, spec)]));
  const listeners = new Map<ServerRuntime, Listener>();
  const admin: AdminState = {
    cloud,
    cloudModels,
    servers,
    log,
    setMode: async (server, mode) => {
      server.mode = mode;
      const own = listeners.get(server);
      if (mode.mode === 'down') await own?.close();
      else await own?.open();
    },
  };
  const canned = new CannedAnswers(config.bench);
  const handler =
    (place: (path: string) => Resolved | undefined, administrable: boolean) =>
    (incoming: IncomingMessage, response: ServerResponse): void => {
      if (incoming.url?.startsWith('/bench/') === true && canned.answer(incoming, response, incoming.url)) return;
      const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
      const work =
        administrable && url.pathname.startsWith('/_simulator/')
          ? administer(incoming, response, url.pathname, admin)
          : serve(incoming, response, place(url.pathname), url.searchParams, services);
      work.catch((error: unknown) => {
        // A fault of the simulator itself must not look like one that was ordered.
        console.error('nightshift-model-simulator failed:', error);
        response.destroy();
      });
    };
  const main = new Listener(
    options.port ?? 0,
    handler((path) => resolve(path, cloud, servers), true),
  );
  await main.open();
  const addresses: Record<string, string> = {};
  for (const [name, server] of servers) {
    const port = config.servers[name]?.port;
    if (port !== undefined) {
      const own = new Listener(
        port,
        handler((path) => ({ server, path, vendor: server.kind }), false),
      );
      listeners.set(server, own);
      // Opened even when it starts as down, so that its port is known and kept.
      await own.open();
      if (server.mode.mode === 'down') await own.close();
    }
    addresses[name] = listeners.get(server)?.url ?? `${main.url}/servers/${name}`;
  }
  return {
    url: main.url,
    servers: addresses,
    requests: () => log.recent().filter(isModelLine),
    polls: () => log.recent().filter((line) => line.kind === 'metadata'),
    stop: async () => {
      await Promise.all([main, ...listeners.values()].map((listener) => listener.close()));
      log.close();
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  place: Resolved | undefined,
  query: URLSearchParams,
  services: ExchangeServices,
): Promise<void> {
  if (place === undefined) {
    incoming.resume();
    response.writeHead(404, { 'x-simulator': 'nightshift-model-simulator' }).end();
    return;
  }
  const { server } = place;
  if (server.mode.mode === 'down') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (server.mode.mode === 'hang' || server.mode.mode === 'slow') {
    if (server.mode.mode === 'hang') incoming.resume();
    const there = await presence(response).wait(server.mode.mode === 'hang' ? Number.MAX_SAFE_INTEGER : server.mode.ms);
    if (!there) return;
  }
  const route = incoming.method === 'POST' ? modelRoute(place.path) : undefined;
  if (route === undefined) {
    await metadataExchange(incoming, response, place, query, services.log);
    return;
  }
  const vendor = place.vendor ?? (server.cloud ? undefined : server.kind);
  const mount = {
    name: server.name,
    models: server.models,
    local: !server.cloud && isLocal(server.kind),
    ...(vendor === undefined ? {} : { vendor }),
  };
  await exchange(incoming, response, { ...route, path: place.path, mount }, services);
}
