import path from 'node:path';

/** The services in the order in which they are shown. */
export const serviceNames = [
  'api',
  'orchestrator',
  'provider-gateway',
  'model-registry',
  'compactor',
  'tool-result-store',
  'tool-runner',
] as const;
export type ServiceName = (typeof serviceNames)[number];

export interface Ports {
  api: number;
  gateway: number;
  simulator: number;
  nats: number;
  natsMonitor: number;
  postgres: number;
  metrics: Readonly<Record<ServiceName, number>>;
}

/** Where one installation keeps its data and listens. Everything is on 127.0.0.1. */
export interface Layout {
  projectRoot: string;
  stateDir: string;
  ports: Ports;
}

/** @param offset added to every port, so that two installations can run side by side. */
export function layoutOf(projectRoot: string, stateDir: string, offset: number): Layout {
  const port = (base: number): number => base + offset;
  const metrics = Object.fromEntries(serviceNames.map((name, index) => [name, port(7500 + index)])) as Ports['metrics'];
  return {
    projectRoot,
    stateDir: path.resolve(stateDir),
    ports: {
      api: port(7400),
      gateway: port(7410),
      simulator: port(7420),
      nats: port(7430),
      natsMonitor: port(7431),
      postgres: port(7440),
      metrics,
    },
  };
}

/** Every port with what it is for. */
export function allPorts(ports: Ports): Array<{ port: number; what: string }> {
  return [
    { port: ports.api, what: 'HTTP API' },
    { port: ports.gateway, what: 'provider gateway' },
    { port: ports.nats, what: 'NATS' },
    { port: ports.natsMonitor, what: 'NATS monitoring' },
    { port: ports.postgres, what: 'Postgres' },
    { port: ports.simulator, what: 'model simulator' },
    ...serviceNames.map((name) => ({ port: ports.metrics[name], what: `metrics of ${name}` })),
  ];
}
