import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { NightshiftError, maxPayloadBytes } from '@nightshift/contracts';
import { startChild, untilReady } from './child';
import type { Child } from './child';
import { freePort, loopback, refuseTakenPort } from './ports';

/** What a configuration of one's own has to use. */
export interface NatsPlaces {
  host: string;
  port: number;
  monitorPort: number;
  storeDir: string;
}

export interface NatsOptions {
  /** JetStream's files. */
  dataDir: string;
  /** Free ones when absent. */
  port?: number;
  monitorPort?: number;
  /** A configuration of one's own, with users and permissions for example; ours without users when absent. */
  configure?: (places: NatsPlaces) => string;
  onLine?: (line: string) => void;
}

export interface RunningNats {
  url: string;
  port: number;
  monitorPort: number;
  monitorUrl: string;
  pid: number;
  exited: Child['exited'];
  signal: Child['signal'];
  stop(): Promise<void>;
}

const readyTimeoutMs = 15_000;

/** Where `npm start` puts the official release when nothing else has one. */
export const natsCacheFile = path.join(homedir(), '.cache/nightshift/bin/nats-server');

const candidates = [
  'nats-server',
  '/usr/sbin/nats-server',
  '/usr/local/bin/nats-server',
  '/usr/local/sbin/nats-server',
  '/opt/homebrew/bin/nats-server',
  natsCacheFile,
];

/** The first nats-server that runs, from PATH, the usual folders (Debian's is not on a user's PATH) or our cache. */
export function findNatsServer(): string | undefined {
  return candidates.find((candidate) => spawnSync(candidate, ['--version'], { stdio: 'ignore' }).status === 0);
}

/** The same, or FAILED_PRECONDITION with what to install. */
export function requireNatsServer(): string {
  const found = findNatsServer();
  if (found) return found;
  throw new NightshiftError(
    'FAILED_PRECONDITION',
    'no nats-server: install it (Debian, Ubuntu: apt-get install nats-server; macOS: brew install nats-server; Docker: ' +
      'docker run -p 4222:4222 nats:2 -js, then set NATS_URL), or set NATS_URL to a running server with JetStream',
  );
}

/** A configuration that is shared with deployments names its ports: it knows nothing of "any free one". */
async function configuration(options: NatsOptions, portsFolder: string): Promise<string> {
  if (options.configure) {
    const storeDir = path.resolve(options.dataDir);
    const [port, monitorPort] = [options.port ?? (await freePort()), options.monitorPort ?? (await freePort())];
    const places = { host: loopback, port, monitorPort, storeDir };
    return `${options.configure(places)}ports_file_dir: ${JSON.stringify(portsFolder)}\n`;
  }
  return [
    `listen: "${loopback}:${options.port ?? -1}"`,
    `http: "${loopback}:${options.monitorPort ?? -1}"`,
    `max_payload: ${maxPayloadBytes}`,
    `ports_file_dir: ${JSON.stringify(portsFolder)}`,
    `jetstream { store_dir: ${JSON.stringify(path.resolve(options.dataDir))}, max_memory_store: 256MB, max_file_store: 16GB }`,
    '',
  ].join('\n');
}

interface Ports {
  nats: string[];
  monitoring: string[];
}

/** The server writes the ports it really got to `<name>_<pid>.ports`, first as an empty file. */
function readPorts(folder: string): Ports | undefined {
  const file = readdirSync(folder).find((name) => name.endsWith('.ports'));
  const text = file ? readFileSync(path.join(folder, file), 'utf8') : '';
  try {
    return text ? (JSON.parse(text) as Ports) : undefined;
  } catch {
    // Half written: the next look finds it whole.
    return undefined;
  }
}

function healthy(monitorUrl: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(`${monitorUrl}/healthz`, { timeout: 1_000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy(new Error('no answer')));
    request.once('error', () => resolve(false));
  });
}

/**
 * Starts nats-server with JetStream on loopback, 8 MB payloads and a monitoring port.
 * @throws FAILED_PRECONDITION when the binary is missing or a port is taken.
 */
export async function startNats(options: NatsOptions): Promise<RunningNats> {
  const command = requireNatsServer();
  if (options.port !== undefined) await refuseTakenPort(options.port, 'NATS');
  if (options.monitorPort !== undefined) await refuseTakenPort(options.monitorPort, 'NATS monitoring');
  mkdirSync(options.dataDir, { recursive: true });
  const scratch = mkdtempSync(path.join(tmpdir(), 'nightshift-nats-'));
  const file = path.join(scratch, 'nats.conf');
  writeFileSync(file, await configuration(options, scratch));
  try {
    const child = await startChild({ command, args: ['-c', file], onLine: options.onLine });
    let ports: Ports | undefined;
    await untilReady(child, 'nats-server', readyTimeoutMs, async () => {
      ports ??= readPorts(scratch);
      const monitor = ports?.monitoring[0];
      return monitor !== undefined && healthy(monitor);
    });
    const url = ports?.nats[0];
    const monitorUrl = ports?.monitoring[0];
    if (!url || !monitorUrl) throw new NightshiftError('INTERNAL', 'nats-server reported no ports');
    return {
      url,
      port: Number(new URL(url).port),
      monitorPort: Number(new URL(monitorUrl).port),
      monitorUrl,
      pid: child.pid,
      exited: child.exited,
      signal: child.signal,
      stop: async () => {
        await child.stop();
      },
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
