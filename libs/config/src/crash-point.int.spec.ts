import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { transformFileSync } from '@swc/core';

const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-crash-'));
afterAll(() => rmSync(folder, { recursive: true }));
const source = transformFileSync(path.join(__dirname, 'crash-point.ts'), {
  swcrc: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
}).code;

function run(env: Record<string, string>) {
  const script = `${source}\nfor (let i = 1; i <= 3; i++) { exports.crashPoint('here'); process.stdout.write(String(i)); }`;
  const done = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' });
  return { signal: done.signal, out: done.stdout };
}

describe('a crash point', () => {
  it('does nothing unless it is named', () => {
    expect(run({})).toEqual({ signal: null, out: '123' });
    expect(run({ CRASH_POINT: 'there' })).toEqual({ signal: null, out: '123' });
  });

  it('kills the process without any clean-up, at the first or the N-th passing', () => {
    expect(run({ CRASH_POINT: 'here' })).toEqual({ signal: 'SIGKILL', out: '' });
    expect(run({ CRASH_POINT: 'here:3' })).toEqual({ signal: 'SIGKILL', out: '12' });
  });

  it('kills only the first process with the same marker, so that the restarted one survives', () => {
    const env = { CRASH_POINT: 'here', CRASH_MARKER: path.join(folder, 'marker') };
    expect(run(env).signal).toBe('SIGKILL');
    expect(existsSync(env.CRASH_MARKER)).toBe(true);
    expect(run(env)).toEqual({ signal: null, out: '123' });
  });

  it('kills the process at the point that a plan names, once for each plan', () => {
    const env = { CRASH_PLAN: path.join(folder, 'plan') };
    expect(run(env)).toEqual({ signal: null, out: '123' });
    writeFileSync(env.CRASH_PLAN, 'there');
    expect(run(env)).toEqual({ signal: null, out: '123' });
    writeFileSync(env.CRASH_PLAN, 'here');
    expect(run(env).signal).toBe('SIGKILL');
    expect([existsSync(env.CRASH_PLAN), existsSync(`${env.CRASH_PLAN}.fired`)]).toEqual([false, true]);
    expect(run(env)).toEqual({ signal: null, out: '123' });
  });
});
