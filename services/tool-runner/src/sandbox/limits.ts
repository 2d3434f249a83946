import type { tool } from '@nightshift/contracts';

/** Bounds of one command. */
export interface Limits {
  memoryMb: number;
  processes: number;
  /** Bytes of output that are kept: half from the beginning, half from the end. */
  outputBytes: number;
  /** Milliseconds. */
  timeoutMs: number;
}

/** A policy may lower these and raise them up to `ceiling`; 0 means "not set". */
const defaults = { memoryMb: 4_096, processes: 512, outputBytes: 1024 * 1024 };
const ceiling = { memoryMb: 65_536, processes: 8_192, outputBytes: 4 * 1024 * 1024 };
/** A command that writes this many times what is kept is ended. */
export const outputFactor = 64;

export function limitsOf(policy: tool.Policy | undefined, timeoutMs: number): Limits {
  return {
    memoryMb: Math.min(policy?.memoryMb || defaults.memoryMb, ceiling.memoryMb),
    processes: Math.min(policy?.maxProcesses || defaults.processes, ceiling.processes),
    outputBytes: Math.min(policy?.maxOutputBytes || defaults.outputBytes, ceiling.outputBytes),
    timeoutMs,
  };
}

/**
 * Shell text that sets the limits and then runs its first argument; it runs inside the sandbox, where the number of
 * processes is counted per user namespace. RLIMIT_DATA and not RLIMIT_AS: run-times reserve far more addresses than they
 * use (a WebAssembly memory alone takes 8 GB).
 */
export function limitingShell(limits: Limits): string {
  return [
    'exec 2>&1 </dev/null',
    `ulimit -c 0 -d ${limits.memoryMb * 1024} -u ${limits.processes} || exit 126`,
    'exec bash --noprofile --norc -c "$1"',
  ].join('\n');
}
