const parentCheckMs = 1_000;

/**
 * Fires when this start shall end: Ctrl-C, SIGTERM, a closed terminal, or, below npm, the end of the parent, which npm
 * does not tell its script about when it is killed itself.
 * @param belowNpm watch the parent process.
 */
export function interruption(belowNpm: boolean, onSecond: () => void): AbortSignal {
  const ended = new AbortController();
  const interrupt = (): void => (ended.signal.aborted ? onSecond() : ended.abort());
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt);
  if (belowNpm) {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      interrupt();
    }, parentCheckMs);
    timer.unref();
  }
  return ended.signal;
}
