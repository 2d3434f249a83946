import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import { loadConfig, loadNightshiftFile, parseNightshiftFile, type Settings } from '@nightshift/config';
import { serviceNames, type ServiceName } from '@nightshift/contracts';
import { chartValues, renderChart } from './helm/chart';

type Variables = Readonly<Record<string, string>>;
interface Deployed {
  variables: Variables;
  /** From SIGTERM to SIGKILL, in ms. */
  killedAfterMs: number;
}
interface Container {
  env: { name: string; value?: string }[];
}

const root = join(__dirname, '../..');
/** Services are no libraries: their settings are read from where they lie. */
function settingsOf(service: ServiceName): Settings {
  const exported = jest.requireActual<Record<string, unknown>>(join(root, 'services', service, 'src/config'));
  const found = Object.values(exported).find((value) => typeof value === 'object' && value !== null && 'NATS_URL' in value);
  if (!found) throw new Error(`${service} exports no settings`);
  return found as Settings;
}
/** What a secret or a field of the pod stands for. */
const filledIn: Variables = {
  DATABASE_URL: 'postgres://nightshift:secret@postgres:5432/nightshift',
  NATS_PASSWORD: 'secret',
  RUNNER_ID: 'nightshift-tool-runner-0',
  INSTANCE_ID: 'nightshift-tool-runner-0',
};
/** ENV of the image. */
const image = Object.fromEntries(
  [...(/^ENV (.*)$/m.exec(readFileSync(join(root, 'infra/Dockerfile'), 'utf8'))?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)].map(
    ([, name = '', value = '']) => [name, value],
  ),
);
const configurationPath = '/etc/nightshift/nightshift.yaml';

/** docker compose's `${NAME:-default}`, with nothing set. */
const withDefaults = (text: string): string => text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');

function composed(service: ServiceName): Deployed {
  const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: Record<string, { environment: Variables; stop_grace_period: string }>;
  };
  const { environment = {}, stop_grace_period: grace = '10s' } = compose.services[service] ?? {};
  const variables = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, withDefaults(String(value))]));
  return { variables: { ...image, ...variables }, killedAfterMs: Number(grace.replace('s', '')) * 1_000 };
}

function charted(service: ServiceName): Deployed {
  const manifest = renderChart(chartValues()).find(
    ({ kind, metadata }) =>
      ['Deployment', 'StatefulSet'].includes(kind) && metadata.labels?.['app.kubernetes.io/component'] === service,
  );
  const { spec } = (manifest?.spec as { template: { spec: { containers: Container[]; terminationGracePeriodSeconds: number } } })
    .template;
  const variables = (spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value ?? filledIn[name] ?? '']);
  return {
    variables: { ...image, ...(Object.fromEntries(variables) as Variables) },
    killedAfterMs: spec.terminationGracePeriodSeconds * 1_000,
  };
}

/** Read by the gateway under the names that nightshift.yaml gives, or by node itself. */
const others = /_API_KEY$|^NODE_ENV$|^SERVICE$|^NIGHTSHIFT_FILE$/;

describe.each([
  ['docker compose', composed],
  ['the Helm chart', charted],
] as const)('%s', (_where, deployed) => {
  it.each(serviceNames)('starts %s: its own schema accepts the environment', (service) => {
    const { variables, killedAfterMs } = deployed(service);
    const settings = settingsOf(service);
    const config = loadConfig(settings, variables) as Record<string, unknown>;
    // A misspelt variable would be ignored without a word.
    expect(Object.keys(variables).filter((name) => !(name in settings) && !others.test(name))).toEqual([]);
    // What Prometheus scrapes and the probes ask.
    expect([config.METRICS_HOST, config.METRICS_PORT]).toEqual(['0.0.0.0', 9464]);
    expect(config.NATS_USER).toBe(service);
    expect(config.SHUTDOWN_GRACE_MS).toBeLessThan(killedAfterMs);
    if ('NIGHTSHIFT_FILE' in settings && service !== 'tool-runner') expect(variables.NIGHTSHIFT_FILE).toBe(configurationPath);
  });

  it('keeps the files of the runner away from the directories that a task may name', () => {
    const config = loadConfig(settingsOf('tool-runner'), deployed('tool-runner').variables);
    const { WORKSPACE_ROOT: own, ALLOWED_ROOTS: roots } = config as { WORKSPACE_ROOT: string; ALLOWED_ROOTS: string[] };
    const inside = (path: string, folder: string): boolean => !relative(folder, path).startsWith('..');
    expect(roots.filter((allowed) => inside(own, allowed) || inside(allowed, own))).toEqual([]);
  });

  it('lets clients reach the API', () => {
    expect(loadConfig(settingsOf('api'), deployed('api').variables)).toMatchObject({ API_HOST: '0.0.0.0', API_PORT: 7400 });
  });
});

it('mounts a configuration that services can read', () => {
  expect(() => loadNightshiftFile(join(root, 'nightshift.yaml'))).not.toThrow();
  expect(() => parseNightshiftFile(String(chartValues().configuration), 'values.yaml')).not.toThrow();
});
