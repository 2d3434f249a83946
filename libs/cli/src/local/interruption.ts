import { readFileSync } from 'node:fs';

const parentCheckMs = 1_000;

/** The parent of a process; undefined where the system does not tell. */
function parentOf(pid: number): number | undefined {
  try {
    // The name in brackets may hold anything, spaces included.
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) \S+ /s, '')
        .split(' ', 1)[0],
    );
  } catch {
    // Not Linux, or gone.
    return undefined;
  }
}

/**
 * Fires when this start shall end: Ctrl-C, SIGTERM, a closed terminal, or, below npm, the end of npm or of the shell it
 * puts between itself and its script, neither of which tells the script when it is killed.
 * @param belowNpm watch the parents.
 */
export function interruption(belowNpm: boolean, onSecond: () => void): AbortSignal {
  const ended = new AbortController();
  const interrupt = (): void => (ended.signal.aborted ? onSecond() : ended.abort());
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt);
  if (belowNpm) {
    const parents = (): string => `${process.ppid} ${parentOf(process.ppid)}`;
    const before = parents();
    const timer = setInterval(() => {
      if (parents() === before) return;
      clearInterval(timer);
      interrupt();
    }, parentCheckMs);
    timer.unref();
  }
  return ended.signal;
}
