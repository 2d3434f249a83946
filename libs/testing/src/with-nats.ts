import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNats } from '@nightshift/local-stack';
import type { RunningNats } from '@nightshift/local-stack';
import { realServerTimeoutMs } from './timeouts';

export interface TestNats {
  /** Valid inside tests and hooks. */
  readonly url: string;
  readonly port: number;
  readonly monitorUrl: string;
  /** Kills the server as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
}

/** Gives a spec file a real NATS server of its own with JetStream on a free port (0.1 s). */
export function withNats(): TestNats {
  let folder = '';
  let server: RunningNats | undefined;
  let port: number | undefined;
  const start = async (): Promise<void> => {
    server = await startNats({ dataDir: path.join(folder, 'jetstream'), port });
    port = server.port;
  };
  jest.setTimeout(realServerTimeoutMs);
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'nightshift-test-nats-'));
    await start();
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const ready = (): RunningNats => {
    if (!server) throw new Error('withNats(): used before beforeAll has run');
    return server;
  };
  return {
    get url() {
      return ready().url;
    },
    get port() {
      return ready().port;
    },
    get monitorUrl() {
      return ready().monitorUrl;
    },
    async kill() {
      ready().signal('SIGKILL');
      await ready().exited;
    },
    start,
  };
}
