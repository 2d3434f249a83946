import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Module } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { inspectNats, startService, type RunningService } from '@nightshift/bus';
import { loadConfig, serviceSettings } from '@nightshift/config';
import { routes } from '@nightshift/contracts';
import { startNats, type RunningNats } from '@nightshift/local-stack';
import { natsConfig } from './permissions';
import { natsTlsConfig, type ServerTls } from './tls';

/** Without openssl nobody makes certificates here. */
const able = spawnSync('openssl', ['version']).status === 0;
if (!able) console.warn('TLS with NATS is not tested: openssl is not installed');

@Controller()
class Handlers {
  @MessagePattern(routes.deadletterPut.subject)
  put(): { id: string } {
    return { id: 'stored' };
  }
}
@Module({ controllers: [Handlers] })
class HandlersModule {}

(able ? describe : describe.skip)('NATS with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-tls-'));
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const password = (user: string): string => `${user}-password`;
  const servers: RunningNats[] = [];

  /** An authority with a certificate for one name. */
  function certify(authority: string, name: string): void {
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      `${authority}.key`,
      '-out',
      `${authority}.crt`,
      '-days',
      '2',
      '-subj',
      `/CN=${authority}`,
    );
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    writeFileSync(file(`${name}.ext`), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      `${authority}.crt`,
      '-CAkey',
      `${authority}.key`,
      '-CAcreateserial',
      '-out',
      `${name}.crt`,
      '-days',
      '2',
      '-extfile',
      `${name}.ext`,
    );
  }
  async function serve(tls: ServerTls, name: string): Promise<string> {
    const server = await startNats({
      dataDir: file(name),
      configure: (places) => natsConfig({ ...places, password, tls }),
    });
    servers.push(server);
    return `nats://127.0.0.1:${server.port}`;
  }
  const start = (url: string, env: Record<string, string>): Promise<RunningService> =>
    startService({
      service: 'orchestrator',
      module: HandlersModule,
      partial: true,
      config: loadConfig(serviceSettings, {
        NATS_URL: url,
        NATS_USER: 'orchestrator',
        NATS_PASSWORD: password('orchestrator'),
        LOG_LEVEL: 'silent',
        ...env,
      }),
    });
  const looks = (url: string, caFile?: string): Promise<unknown> =>
    inspectNats({ url, user: 'doctor', password: password('doctor'), ...(caFile ? { caFile } : {}) }, 30_000);

  beforeAll(() => {
    certify('authority', 'server');
    certify('stranger', 'other');
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true });
  });

  it('carries commands and requests of a service that knows the authority, and of nobody else', async () => {
    const url = await serve({ certFile: file('server.crt'), keyFile: file('server.key') }, 'plain');
    const service = await start(url, { NATS_CA_FILE: file('authority.crt') });
    const { bus } = service;
    await bus.command(routes.compactionRun, { taskId: 'a' }, { team: 't', messageId: 'a' });
    expect((await bus.manager.streams.info('COMPACTION_RUN')).state.messages).toBe(1);
    await service.stop();

    await expect(looks(url, file('authority.crt'))).resolves.toBeDefined();
    await expect(looks(url, file('stranger.crt'))).rejects.toThrow('certificate');
    await expect(looks(url)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(looks(url, file('nowhere.crt'))).rejects.toThrow(`cannot read ${file('nowhere.crt')}`);
  });

  it('asks clients for a certificate where it is told whose', async () => {
    const clientCaFile = file('authority.crt');
    const url = await serve({ certFile: file('server.crt'), keyFile: file('server.key'), clientCaFile }, 'mutual');
    await expect(looks(url, file('authority.crt'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const service = await start(url, {
      NATS_CA_FILE: file('authority.crt'),
      NATS_CERT_FILE: file('server.crt'),
      NATS_KEY_FILE: file('server.key'),
    });
    await service.bus.flush();
    await service.stop();
  });

  it('is what the deployed configuration switches on', () => {
    writeFileSync(file('nats.conf'), natsConfig({ storeDir: file('checked'), password }));
    const deployed = natsTlsConfig()
      .replace('/etc/nats-tls/tls.crt', file('server.crt'))
      .replace('/etc/nats-tls/tls.key', file('server.key'));
    writeFileSync(file('nats-tls.conf'), deployed);
    const checked = spawnSync('nats-server', ['-t', '-c', file('nats-tls.conf')], { encoding: 'utf8' });
    expect(`${checked.stderr}${checked.stdout}`).toContain('is valid');
  });
});
