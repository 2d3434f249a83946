import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Environment } from '@nightshift/config';
import type { Layout, ServiceName } from './layout';

export interface StackUrls {
  nats: string;
  database: string;
}

export interface StackChoices {
  /** nightshift.yaml as the services read it; undefined when there is none. */
  file?: string;
  keyFile: string;
  allowedRoots: readonly string[];
  allowUnsandboxed: boolean;
  /** Values of the variables that the file names as keys; they reach the gateway alone. */
  providerKeys: Readonly<Record<string, string>>;
  /** Of the launcher: only what is named here is passed on. */
  outer: Environment;
}

const passedOn = ['PATH', 'HOME', 'LANG', 'TZ', 'LOG_LEVEL', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'NODE_EXTRA_CA_CERTS'] as const;
const withDatabase: ReadonlyArray<ServiceName> = [
  'api',
  'orchestrator',
  'provider-gateway',
  'model-registry',
  'tool-result-store',
];
/** The local services crash and restart beside each other; waiting 30 s for each redelivery would only be slow. */
export const localAckWaitMs = 10_000;

/** The complete environment of one service: nothing else of the user's environment reaches it. */
export function environmentOf(
  service: ServiceName,
  layout: Layout,
  urls: StackUrls,
  choices: StackChoices,
): Record<string, string> {
  const outer = Object.fromEntries(
    passedOn.flatMap((name) => (choices.outer[name] === undefined ? [] : [[name, choices.outer[name]]])),
  );
  return {
    ...outer,
    NODE_ENV: 'production',
    // Node 22 and later keep compiled code there, which halves the start; Node 20 ignores it.
    NODE_COMPILE_CACHE: path.join(layout.stateDir, 'compiled'),
    NATS_URL: urls.nats,
    METRICS_PORT: String(layout.ports.metrics[service]),
    ACK_WAIT_MS: String(localAckWaitMs),
    // A new version may bring other consumer settings; on one machine nobody else relies on the old ones.
    NATS_DRIFT: 'apply',
    ...(withDatabase.includes(service) ? { DATABASE_URL: urls.database } : {}),
    ...(choices.file ? { NIGHTSHIFT_FILE: choices.file } : {}),
    ...own(service, layout, choices),
  };
}

function own(service: ServiceName, layout: Layout, choices: StackChoices): Record<string, string> {
  switch (service) {
    case 'api':
      return { API_PORT: String(layout.ports.api), BOOTSTRAP_KEY_FILE: choices.keyFile };
    case 'provider-gateway':
      return { GATEWAY_PORT: String(layout.ports.gateway), ...choices.providerKeys };
    case 'tool-runner': {
      const root = path.join(layout.stateDir, 'workspaces');
      mkdirSync(root, { recursive: true });
      return {
        RUNNER_ID: 'local',
        WORKSPACE_ROOT: root,
        ALLOWED_ROOTS: choices.allowedRoots.join(':'),
        ...(choices.allowUnsandboxed ? { ALLOW_UNSANDBOXED: 'true' } : {}),
        SANDBOX_READ_PATHS: nodeFolder(),
      };
    }
    default:
      return {};
  }
}

/** Commands of agents run the same Node as we do, also where it lies outside /usr (nvm and the like). */
function nodeFolder(): string {
  const prefix = path.resolve(path.dirname(process.execPath), '..');
  return prefix.startsWith('/usr') || prefix === homedir() ? '' : prefix;
}
