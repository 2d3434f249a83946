import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const hook = join(__dirname, '../../../libs/testing/src/source-hook.cjs');
const main = join(__dirname, '../src/main.ts');

/** The runner as a process of its own, from source, so that it can be killed. */
export class RunnerProcess {
  private constructor(private readonly child: ChildProcess) {}

  static start(environment: Record<string, string>): RunnerProcess {
    const child = spawn(process.execPath, ['-r', hook, main], { env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
    return new RunnerProcess(child);
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** Resolves with the signal or exit code. */
  async ended(): Promise<string | number | null> {
    const { exitCode, signalCode } = this.child;
    if (exitCode !== null || signalCode !== null) return signalCode ?? exitCode;
    const [code, signal] = (await once(this.child, 'exit')) as [number | null, string | null];
    return signal ?? code;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<string | number | null> {
    this.child.kill(signal);
    return this.ended();
  }
}
