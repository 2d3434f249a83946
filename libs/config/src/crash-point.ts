import { writeFileSync } from 'node:fs';

// Read once: a crash point stands on hot paths, and reading process.env is not free.
const [armed, hit = '1'] = (process.env.CRASH_POINT ?? '').split(':');
const marker = process.env.CRASH_MARKER;
let remaining = Number(hit);

/**
 * A named crash window. Does nothing unless `CRASH_POINT=name` (or `name:N` for the N-th passing) is set; then the process
 * kills itself, without any clean-up. With `CRASH_MARKER=file` only the first process that gets here dies, so that the
 * restarted one survives.
 */
export function crashPoint(name: string): void {
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
