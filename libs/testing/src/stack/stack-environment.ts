import path from 'node:path';
import { loadConfig } from '@nightshift/config';
import { serviceNames } from '@nightshift/contracts';
import type { ServiceName } from '@nightshift/contracts';
import { freePort } from '@nightshift/local-stack';
import { z } from 'zod';

export interface StackPorts {
  api: number;
  gateway: number;
  operations: Readonly<Record<ServiceName, number>>;
}

export interface StackPlaces {
  natsUrl: string;
  databaseUrl: string;
  nightshiftFile: string;
  adminKey: string;
  folder: string;
  allowedRoots: readonly string[];
}

/** The only part of the test's own environment that services get. */
const outer = { PATH: z.string().default('/usr/bin:/bin'), HOME: z.string().default('/') };
const databaseServices: readonly ServiceName[] = [
  'api',
  'orchestrator',
  'provider-gateway',
  'model-registry',
  'tool-result-store',
];

export async function choosePorts(): Promise<StackPorts> {
  const operations: Partial<Record<ServiceName, number>> = {};
  for (const service of serviceNames) operations[service] = await freePort();
  return { api: await freePort(), gateway: await freePort(), operations: operations as Record<ServiceName, number> };
}

/** The complete environment of one service process, with test timings. */
export function environmentOf(service: ServiceName, ports: StackPorts, places: StackPlaces): Record<string, string> {
  const own: Partial<Record<ServiceName, Record<string, string>>> = {
    api: { API_PORT: String(ports.api), BOOTSTRAP_KEY: places.adminKey },
    'provider-gateway': { GATEWAY_PORT: String(ports.gateway) },
    'model-registry': { POLL_EVERY_MS: '1000', LIST_EVERY_MS: '1000', LEASE_RETRY_MS: '500' },
    'tool-runner': {
      RUNNER_ID: 'test',
      WORKSPACE_ROOT: path.join(places.folder, 'workspaces'),
      ALLOWED_ROOTS: places.allowedRoots.join(':'),
    },
  };
  return {
    ...loadConfig(outer),
    NATS_URL: places.natsUrl,
    METRICS_PORT: String(ports.operations[service]),
    ACK_WAIT_MS: '5000',
    SHUTDOWN_GRACE_MS: '5000',
    NIGHTSHIFT_FILE: places.nightshiftFile,
    INSTANCE_ID: service,
    CRASH_MARKER: path.join(places.folder, `crashed-${service}`),
    ...(databaseServices.includes(service) ? { DATABASE_URL: places.databaseUrl } : {}),
    ...own[service],
  };
}
