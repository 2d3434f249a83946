import { startChild } from './child';
import type { Child } from './child';

export interface SuperviseOptions {
  name: string;
  /** The service's compiled entry, `…/dist/main.js`. */
  entry: string;
  args?: readonly string[];
  /** Flags of node itself. */
  nodeArgs?: readonly string[];
  /** The complete environment of the process. */
  env: Readonly<Record<string, string>>;
  cwd?: string;
  /** Every line it writes. */
  onLine?: (line: string, name: string) => void;
  /** Told at each unexpected end, before the restart. */
  onExit?: (name: string, code: number | null, signal: string | null) => void;
  /** Longer than SHUTDOWN_GRACE_MS of the service. */
  stopGraceMs?: number;
}

export interface SupervisedService {
  readonly name: string;
  /** Of the present process; 0 between an end and its restart. */
  pid(): number;
  restarts(): number;
  /** Sends a signal to the present process; a kill is followed by a restart. */
  signal(signal: NodeJS.Signals): void;
  /** Stops for good. */
  stop(): Promise<void>;
  /** The last lines it wrote. */
  tail(): string;
}

/** The exit code of a wrong configuration (sysexits EX_CONFIG): starting again cannot help. */
const configurationFault = 78;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** A process that lived this long starts the pauses from the beginning. */
const steadyMs = 10_000;
const defaultStopGraceMs = 30_000;

/** Starts a service and starts it again whenever it ends, until stopped; pauses double from 0.1 s to 5 s. */
export async function supervise(options: SuperviseOptions): Promise<SupervisedService> {
  let child: Child | undefined;
  let stopping = false;
  let restarts = 0;
  let pauseMs = firstPauseMs;
  let wake: (() => void) | undefined;
  let lastTail = '';

  const start = (): Promise<Child> =>
    startChild({
      command: process.execPath,
      args: [...(options.nodeArgs ?? []), options.entry, ...(options.args ?? [])],
      cwd: options.cwd,
      env: options.env,
      onLine: options.onLine ? (line) => options.onLine?.(line, options.name) : undefined,
    });

  const keepRunning = async (first: Child): Promise<void> => {
    let current = first;
    for (;;) {
      const startedAt = Date.now();
      const exit = await current.exited;
      lastTail = current.tail();
      child = undefined;
      if (stopping) return;
      options.onExit?.(options.name, exit.code, exit.signal);
      if (exit.code === configurationFault) return;
      pauseMs = Date.now() - startedAt > steadyMs ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, pauseMs);
      });
      if (stopping) return;
      current = await start();
      child = current;
      restarts += 1;
      // stop() came while the process was being started and found nothing to stop.
      if (stopping) await current.stop(options.stopGraceMs ?? defaultStopGraceMs);
    }
  };

  child = await start();
  const kept = keepRunning(child);
  return {
    name: options.name,
    pid: () => child?.pid ?? 0,
    restarts: () => restarts,
    signal: (signal) => child?.signal(signal),
    tail: () => child?.tail() ?? lastTail,
    async stop() {
      stopping = true;
      wake?.();
      await child?.stop(options.stopGraceMs ?? defaultStopGraceMs);
      await kept;
    },
  };
}
