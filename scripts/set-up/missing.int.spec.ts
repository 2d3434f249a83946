import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Runs an expression over missing.mjs in a plain Node, as a fresh clone does. */
function evaluate(expression: string): unknown {
  const module = JSON.stringify(path.join(__dirname, 'missing.mjs'));
  const code = `import * as m from ${module}; process.stdout.write(JSON.stringify(${expression}) ?? 'null')`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }));
}

let folder = '';
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'nightshift-set-up-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: object | string): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
}

describe('the set-up of a checkout', () => {
  it.each([
    ['20.18.9', true],
    ['20.19.0', false],
    ['22.0.0', false],
    ['18.20.0', true],
  ])('refuses Node %s: %s', (version, refused) => {
    expect(evaluate(`m.nodeFault('${version}')`) !== null).toBe(refused);
  });

  const wanted = {
    '': { name: 'x' },
    'libs/a': { version: '0.1.0' },
    'node_modules/@x/a': { resolved: 'libs/a', link: true },
    'node_modules/b': { version: '1.0.0' },
    'node_modules/only-on-macos': { version: '1.0.0', optional: true },
  };
  it.each([
    ['nothing is installed', undefined, true],
    ['everything is there', { 'node_modules/b': { version: '1.0.0' } }, false],
    ['a package is missing', {}, true],
    ['a package has another version', { 'node_modules/b': { version: '0.9.0' } }, true],
  ])('installs packages when %s: %s', (_, installed, stale) => {
    write('package-lock.json', { packages: wanted });
    if (installed) write('node_modules/.package-lock.json', { packages: installed });
    expect(evaluate(`m.packagesStale(${JSON.stringify(folder)})`)).toBe(stale);
  });

  it('builds again when a source file was changed, added or removed, and not otherwise', () => {
    for (const name of ['tsconfig.json', 'tsconfig.base.json', 'package-lock.json']) write(name, '{}');
    write('libs/a/src/a.ts', 'export const a = 1;');
    write('services/b/src/b.ts', '');
    const stamp = (): unknown => evaluate(`m.sourceStamp(${JSON.stringify(folder)})`);
    const first = stamp();
    expect(stamp()).toBe(first);
    write('libs/a/src/a.ts', 'export const a = 12;');
    const changed = stamp();
    expect(changed).not.toBe(first);
    write('libs/a/src/new.ts', '');
    expect(stamp()).not.toBe(changed);
    rmSync(path.join(folder, 'libs/a/src/new.ts'));
    expect(stamp()).toBe(changed);
  });
});
