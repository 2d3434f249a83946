import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { NightshiftError } from '@nightshift/contracts';
import { guardAgainstOrphan } from './orphan-guard';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Child {
  readonly pid: number;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<Exit>;
  readonly ended: () => boolean;
  /** The last lines it wrote, for error messages. */
  readonly tail: () => string;
  signal(signal: NodeJS.Signals): void;
  /** Asks to stop, waits `graceMs`, then kills. */
  stop(graceMs?: number): Promise<Exit>;
}

export interface ChildOptions {
  command: string;
  args: readonly string[];
  cwd?: string;
  /** The complete environment; inherited when absent. */
  env?: Readonly<Record<string, string>>;
  /** How it is asked to stop: INT is Postgres' fast shutdown. */
  stopSignal?: 'TERM' | 'INT';
  onLine?: (line: string) => void;
  uid?: number;
  gid?: number;
}

const tailLines = 40;

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  if (stream) createInterface({ input: stream, crlfDelay: Infinity }).on('line', onLine);
}

/**
 * Starts a process in a session of its own, so that Ctrl-C reaches only the parent, which then stops its children in
 * order; the orphan guard takes over when the parent cannot.
 * @throws FAILED_PRECONDITION when the program cannot be started.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const stopSignal = options.stopSignal ?? 'TERM';
  const child: ChildProcess = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    uid: options.uid,
    gid: options.gid,
  });
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) =>
      reject(new NightshiftError('FAILED_PRECONDITION', `cannot start ${options.command}: ${cause.message}`, { cause })),
    );
  });
  const pid = child.pid;
  if (pid === undefined) throw new NightshiftError('INTERNAL', `${options.command} has no process id`);
  const release = guardAgainstOrphan(pid, stopSignal);

  const tail: string[] = [];
  const onLine = (line: string): void => {
    tail.push(line);
    if (tail.length > tailLines) tail.shift();
    options.onLine?.(line);
  };
  readLines(child.stdout, onLine);
  readLines(child.stderr, onLine);

  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
  void exited.then(release);
  const signal = (name: NodeJS.Signals): void => {
    if (!ended()) child.kill(name);
  };
  return {
    pid,
    exited,
    ended,
    tail: () => tail.join('\n'),
    signal,
    async stop(graceMs = 10_000) {
      signal(`SIG${stopSignal}`);
      const timer = setTimeout(() => signal('SIGKILL'), graceMs);
      const exit = await exited;
      clearTimeout(timer);
      return exit;
    },
  };
}

/** Polls until `check` is true; fails at once when the process ends first. */
export async function untilReady(child: Child, what: string, timeoutMs: number, check: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + timeoutMs;
  while (!(await check())) {
    if (child.ended()) throw new NightshiftError('FAILED_PRECONDITION', `${what} ended while starting:\n${child.tail()}`);
    if (Date.now() > until) {
      throw new NightshiftError('DEADLINE_EXCEEDED', `${what} was not ready within ${timeoutMs} ms:\n${child.tail()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
