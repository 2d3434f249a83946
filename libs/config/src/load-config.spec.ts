import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { NightshiftError } from '@nightshift/contracts';
import { databaseSettings, describeConfig, flag, integer, loadConfig, secret, secretValues, serviceSettings } from './index';

const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function faultsOf(work: () => unknown): readonly string[] {
  try {
    work();
    return [];
  } catch (error) {
    expect(NightshiftError.from(error).code).toBe('INVALID_ARGUMENT');
    return NightshiftError.from(error).faults;
  }
}

describe('loadConfig', () => {
  const shape = {
    ...databaseSettings,
    PORT: integer({ min: 1, max: 65_535 }).default(7400),
    LOUD: flag().default(false),
    NAME: z.string(),
  };

  it('reads, converts and fills in', () => {
    expect(loadConfig(shape, { DATABASE_URL: 'postgresql://u:p@h/d', PORT: '81', LOUD: 'yes', NAME: 'n' })).toEqual({
      DATABASE_URL: 'postgresql://u:p@h/d',
      DATABASE_POOL_SIZE: 8,
      PORT: 81,
      LOUD: true,
      NAME: 'n',
    });
  });

  it('reports every problem at once, never with the value of a secret', () => {
    const faults = faultsOf(() => loadConfig(shape, { DATABASE_URL: 'mysql://u:hunter2@h/d', PORT: '0', LOUD: 'maybe' }));
    expect(faults).toHaveLength(4);
    expect(faults.join('\n')).not.toContain('hunter2');
    for (const name of ['DATABASE_URL', 'PORT', 'LOUD', 'NAME']) {
      expect(faults.filter((fault) => fault.startsWith(`${name}: `))).toHaveLength(1);
    }
    expect(faults.find((fault) => fault.startsWith('NAME'))).toBe('NAME: expected string, found nothing');
  });

  it('takes an empty variable as not set', () => {
    expect(loadConfig({ NAME: z.string().default('d') }, { NAME: '' })).toEqual({ NAME: 'd' });
  });

  it('reads a secret from the file that NAME_FILE names, without the line end', () => {
    const file = path.join(folder, 'url');
    writeFileSync(file, 'postgresql://u:p@h/d\n');
    expect(loadConfig(databaseSettings, { DATABASE_URL_FILE: file }).DATABASE_URL).toBe('postgresql://u:p@h/d');
    expect(loadConfig({ TOKEN: secret().optional() }, { TOKEN_FILE: file })).toEqual({ TOKEN: 'postgresql://u:p@h/d' });
  });

  it('reads no file for what is no secret', () => {
    expect(loadConfig({ NAME: z.string().default('d') }, { NAME_FILE: '/etc/passwd' })).toEqual({ NAME: 'd' });
  });

  it('says so when the file is missing, or both forms are given', () => {
    expect(faultsOf(() => loadConfig(databaseSettings, { DATABASE_URL_FILE: '/nowhere' }))).toEqual([
      'DATABASE_URL_FILE: cannot read /nowhere (ENOENT)',
    ]);
    expect(faultsOf(() => loadConfig(databaseSettings, { DATABASE_URL: 'postgres://x', DATABASE_URL_FILE: '/nowhere' }))).toEqual(
      ['DATABASE_URL: set either DATABASE_URL or DATABASE_URL_FILE, not both'],
    );
  });

  it('gives every service its defaults', () => {
    expect(loadConfig(serviceSettings, {})).toMatchObject({
      NATS_URL: 'nats://127.0.0.1:4222',
      METRICS_PORT: 0,
      METRICS_HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      SHUTDOWN_GRACE_MS: 25_000,
      ACK_WAIT_MS: 30_000,
      INSTANCE_ID: expect.stringMatching(/^[A-Za-z0-9_-]+-\d+$/),
    });
  });
});

describe('describeConfig', () => {
  it('masks secrets and passwords inside URLs, and leaves out what is not set', () => {
    const shape = { TOKEN: secret().optional(), OTHER: secret().optional(), NATS_URL: z.string(), PORT: integer() };
    const config = loadConfig(shape, { TOKEN: 'hunter2', NATS_URL: 'nats://me:pw@host:4222', PORT: '1' });
    expect(describeConfig(shape, config)).toEqual({ TOKEN: '******', NATS_URL: 'nats://me:******@host:4222', PORT: 1 });
    expect(secretValues(shape, config)).toEqual(['hunter2']);
  });
});
