import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@nightshift/testing';

const hook = join(__dirname, '../../testing/src/source-hook.cjs');
const main = join(__dirname, 'main.ts');

describe('the process', () => {
  let directory: string;
  let child: ChildProcess | undefined;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'simulator-'));
  });
  afterEach(() => {
    child?.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  async function start(config: object): Promise<string> {
    writeFileSync(join(directory, 'config.json'), JSON.stringify(config));
    const started = spawn(
      process.execPath,
      ['-r', hook, main, '--port', '0', '--config', join(directory, 'config.json'), '--log', join(directory, 'log.jsonl')],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    child = started;
    let printed = '';
    for await (const chunk of started.stdout) {
      printed += String(chunk);
      const url = /^simulator ready (\S+)$/m.exec(printed)?.[1];
      if (url !== undefined) {
        expect(printed).toMatch(/^nightshift-model-simulator: scripted answers, no model behind them$/m);
        return url;
      }
    }
    throw new Error(`it ended: ${printed}`);
  }

  it('says what it is, and its log survives being killed', async () => {
    const url = await start({ models: { sim: {} } });
    for (const text of ['one', 'two', 'three']) {
      const response = await fetch(`${url}/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer k' },
        body: JSON.stringify({ model: 'sim', messages: [{ role: 'user', content: text }] }),
      });
      expect([response.status, response.headers.get('x-simulator')]).toEqual([200, 'nightshift-model-simulator']);
      await response.text();
    }
    // A line is written when its connection is over, a moment after the answer was read.
    await eventually(() => readFileSync(join(directory, 'log.jsonl'), 'utf8').split('\n').length > 3);
    child?.kill('SIGKILL');
    await once(child as ChildProcess, 'exit');
    const lines = readFileSync(join(directory, 'log.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { request: number; ended: string });
    expect(lines.map(({ request, ended }) => [request, ended])).toEqual([
      [1, 'complete'],
      [2, 'complete'],
      [3, 'complete'],
    ]);
  });

  it('stops on SIGTERM with code 0, also with a request hanging', async () => {
    const url = await start({ models: { sim: { faults: [{ action: { kind: 'headers_only' } }] } } });
    const response = await fetch(`${url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer k' },
      body: JSON.stringify({ model: 'sim', stream: true, messages: [{ role: 'user', content: 'x' }] }),
    });
    expect(response.status).toBe(200);
    child?.kill('SIGTERM');
    const [code] = (await once(child as ChildProcess, 'exit')) as [number];
    expect(code).toBe(0);
    await response.text().catch(() => undefined);
  });

  it('ends with code 78 and every fault of a bad configuration', () => {
    writeFileSync(
      join(directory, 'bad.json'),
      JSON.stringify({ models: { sim: { window: -1, vendor: 'nobody' } }, surprise: 1 }),
    );
    const run = spawnSync(process.execPath, ['-r', hook, main, '--config', join(directory, 'bad.json')], { encoding: 'utf8' });
    expect(run.status).toBe(78);
    for (const part of ['3 faults', 'models.sim.window', 'models.sim.vendor', 'surprise']) expect(run.stderr).toContain(part);
  });
});
