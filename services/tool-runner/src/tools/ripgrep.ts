import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { head } from '../files/text';

/**
 * The ripgrep binary: from PATH, else the one that npm brought. That package is ESM with a loader of its own, so only
 * the binary of its platform package is looked up.
 * Throws FAILED_PRECONDITION naming what to install.
 */
export function findRipgrep(path: string): string {
  for (const directory of path.split(delimiter)) if (directory && executable(join(directory, 'rg'))) return join(directory, 'rg');
  const name = `@vscode/ripgrep-${process.platform}-${process.arch}`;
  try {
    const bundled = join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'rg');
    if (executable(bundled)) return bundled;
  } catch (error) {
    throw new NightshiftError('FAILED_PRECONDITION', `ripgrep (rg) is neither on PATH nor in ${name}`, { cause: error });
  }
  throw new NightshiftError('FAILED_PRECONDITION', `ripgrep (rg) is neither on PATH nor in ${name}`);
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Found {
  lines: string[];
  /** More lines or characters than asked for: the search was ended early. */
  more: boolean;
}

/** Milliseconds. */
const timeoutMs = 30_000;

/**
 * Runs ripgrep and collects lines up to the bounds. No match is an empty list.
 * Throws INVALID_ARGUMENT with ripgrep's message for a bad pattern or glob.
 */
export function ripgrep(
  program: string,
  args: readonly string[],
  directory: string,
  bounds: { lines: number; chars: number },
  signal: AbortSignal,
): Promise<Found> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['--no-config', '--color=never', ...args], {
      cwd: directory,
      env: { LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      signal,
    });
    const decoder = new TextDecoder('utf-8');
    let text = '';
    let errors = '';
    let more = false;
    child.stdout.on('data', (chunk: Buffer) => {
      if (more) return;
      text += decoder.decode(chunk, { stream: true });
      if (text.length <= bounds.chars && countLines(text) <= bounds.lines) return;
      more = true;
      child.kill('SIGKILL');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (errors.length < 4_096) errors += chunk.toString('utf8');
    });
    child.on('error', (error) => {
      if (error.name === 'AbortError') reject(new NightshiftError('CANCELLED', 'the search was stopped', { cause: error }));
      else reject(new NightshiftError('FAILED_PRECONDITION', `ripgrep could not be started: ${error.message}`, { cause: error }));
    });
    child.on('close', (code, killed) => {
      if (killed !== null && !more)
        return reject(new NightshiftError('FAILED_PRECONDITION', `the search took longer than ${timeoutMs / 1000} s`));
      // 2 with results: some files could not be read; without: the pattern or glob is wrong.
      if (code === 2 && text === '') return reject(new NightshiftError('INVALID_ARGUMENT', errors.trim() || 'the search failed'));
      const lines = head(text, bounds.chars).replace(/\n$/, '').split('\n').slice(0, bounds.lines);
      resolve({ lines: text === '' ? [] : lines, more });
    });
  });
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
