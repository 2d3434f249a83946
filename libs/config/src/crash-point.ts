import { readFileSync, renameSync, writeFileSync } from 'node:fs';

// Read once: a crash point stands on hot paths, and reading process.env is not free.
const [armed, hit = '1'] = (process.env.CRASH_POINT ?? '').split(':');
const marker = process.env.CRASH_MARKER;
let remaining = Number(hit);

const planFile = process.env.CRASH_PLAN;
const lookEveryMs = 50;
let planned: string | undefined;
if (planFile !== undefined) {
  lookAt(planFile);
  setInterval(() => lookAt(planFile), lookEveryMs).unref();
}

/**
 * A named crash window. Does nothing unless `CRASH_POINT=name` (or `name:N` for the N-th passing) is set; then the process
 * kills itself, without any clean-up. With `CRASH_MARKER=file` only the first process that gets here dies, so that the
 * restarted one survives.
 *
 * `CRASH_PLAN=file` arms points while the process runs: it dies at the point that the file names at that time, and the file is
 * renamed to `<file>.fired` by whoever dies of it, so that one plan is one crash.
 */
export function crashPoint(name: string): void {
  if (planFile !== undefined && planned === name) dieAsPlanned(planFile);
  if (armed !== name || --remaining > 0) return;
  if (marker !== undefined) {
    try {
      writeFileSync(marker, name, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
      throw error;
    }
  }
  process.kill(process.pid, 'SIGKILL');
}

function lookAt(file: string): void {
  planned = unlessMissing(() => readFileSync(file, 'utf8'));
}

function dieAsPlanned(file: string): void {
  planned = undefined;
  const mine = unlessMissing(() => {
    renameSync(file, `${file}.fired`);
    return true;
  });
  if (mine) process.kill(process.pid, 'SIGKILL');
}

function unlessMissing<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
