import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { NightshiftError } from '@nightshift/contracts';
import { type Cgroup, type CgroupParents, makeCgroup } from './cgroup';
import { outputFactor, type Limits } from './limits';
import { OutputBuffer } from './output-buffer';
import { markedProcesses, namespaceMembers, signalProcess, usageOf } from './process-tree';
import type { Launch } from './sandbox';

/** Why the runner ended a command; undefined when it ended by itself. */
export type EndReason = 'time' | 'output' | 'memory' | 'processes' | 'stopped' | 'cancelled' | 'lease' | 'shutdown';

export interface CommandEnd {
  exitCode: number | undefined;
  signal: string | undefined;
  reason: EndReason | undefined;
  ms: number;
  /** Processes that were alive when the runner ended the command. */
  processesEnded: number;
}

/** Milliseconds between SIGTERM and SIGKILL where there is time to be polite. */
const graceMs = 500;
/** Milliseconds between looks at the process tree. */
const watchMs = 250;

/**
 * What becomes the program: closes descriptors that whoever started the runner left open (Node hands them on), and enters
 * the control groups before anything can fork.
 */
const enter = `for fd in /dev/fd/*; do fd=\${fd##*/}; if [ "$fd" -gt 3 ]; then eval "exec $fd>&-"; fi; done
n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ > "$1" || exit 126; shift; n=$((n-1)); done; exec "$@"`;

/** One process tree, from its start until nothing of it is left. */
export class Command {
  readonly output: OutputBuffer;
  readonly ended: Promise<CommandEnd>;
  private readonly child: ChildProcess;
  private readonly group: Cgroup | undefined;
  private readonly started = performance.now();
  private readonly timers: NodeJS.Timeout[] = [];
  private pidNamespace: number | undefined;
  private inner: number | undefined;
  private reason: EndReason | undefined;
  private processesEnded = 0;
  private faults = '';
  private running = true;

  constructor(
    private readonly launch: Launch,
    private readonly limits: Limits,
    private readonly marker: string,
    cgroups: CgroupParents | undefined,
    onText: (text: string) => void,
  ) {
    this.output = new OutputBuffer(limits.outputBytes);
    this.group = cgroups && makeCgroup(cgroups, limits);
    const { program, args } = this.entering();
    this.child = spawn(program, args, {
      cwd: launch.directory,
      env: launch.environment,
      // A process group of its own, so that everything in it can be ended at once. Descriptor 3: where bwrap reports ids.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => this.take(chunk, onText));
    // Inside, both outputs are one; what comes here is the sandbox's own complaint.
    this.child.stderr?.on('data', (chunk: Buffer) => {
      if (this.faults.length < 4_096) this.faults += chunk.toString('utf8');
    });
    (this.child.stdio[3] as Readable).on('data', (chunk: Buffer) => this.learnIds(chunk.toString('utf8')));
    this.ended = this.end();
    this.timers.push(setTimeout(() => this.stop('time', graceMs), limits.timeoutMs));
    if (!this.group) this.timers.push(setInterval(() => this.watch(), watchMs));
  }

  get isRunning(): boolean {
    return this.running;
  }

  /** What the sandbox itself wrote, when it could not start the command. */
  get sandboxFault(): string {
    return this.faults.trim();
  }

  /** Ends the whole tree. Safe to call twice; the first reason counts. */
  stop(reason: EndReason, politeMs = 0): void {
    if (!this.running || this.reason !== undefined) return;
    this.reason = reason;
    const members = this.members();
    this.processesEnded = Math.max(members.length, 1);
    if (politeMs <= 0 || this.inner === undefined) return this.kill();
    for (const pid of members) if (pid !== this.child.pid && pid !== this.inner) signalProcess(pid, 'SIGTERM');
    this.timers.push(setTimeout(() => this.kill(), politeMs));
  }

  /** Ids of the processes of this command that the host can see; the sandbox's reaper is not counted. */
  private members(): number[] {
    if (this.pidNamespace !== undefined) return namespaceMembers(this.pidNamespace).filter((pid) => pid !== this.inner);
    if (this.group) return this.group.processes().filter((pid) => pid !== this.child.pid);
    return process.platform === 'linux' ? markedProcesses(this.marker) : [];
  }

  private kill(): void {
    // Killing the reaper (process 1 of the namespace) ends everything in it, detached or not.
    if (this.inner !== undefined) signalProcess(this.inner, 'SIGKILL');
    if (this.child.pid !== undefined) signalProcess(-this.child.pid, 'SIGKILL');
    if (!this.launch.isolated) for (const pid of this.members()) signalProcess(pid, 'SIGKILL');
  }

  private entering(): { program: string; args: string[] } {
    const { program, arguments: args } = this.launch;
    const entrances = this.group?.entrances ?? [];
    const status = this.launch.isolated ? ['--json-status-fd', '3'] : [];
    const before = ['--noprofile', '--norc', '-c', enter, 'bash', String(entrances.length), ...entrances];
    return { program: 'bash', args: [...before, program, ...status, ...args] };
  }

  private take(chunk: Buffer, onText: (text: string) => void): void {
    const text = this.output.push(chunk);
    if (text) onText(text);
    if (this.output.bytesSeen > outputFactor * this.limits.outputBytes) this.stop('output');
  }

  private learnIds(text: string): void {
    const pid = /"child-pid": (\d+)/.exec(text)?.[1];
    const namespace = /"pid-namespace": (\d+)/.exec(text)?.[1];
    if (pid) this.inner = Number(pid);
    if (namespace) this.pidNamespace = Number(namespace);
    // A stop that came before the ids were known killed the outer process only.
    if (this.reason !== undefined) this.kill();
  }

  /** Where no control group holds the limits for the whole tree, it is looked at four times a second. */
  private watch(): void {
    const usage = usageOf(this.members());
    if (usage.processes > this.limits.processes + 2) this.stop('processes');
    else if (usage.residentBytes > this.limits.memoryMb * 1024 * 1024) this.stop('memory');
  }

  private end(): Promise<CommandEnd> {
    return new Promise((resolve, reject) => {
      this.child.on('error', (error: NodeJS.ErrnoException) => {
        this.cleanUp();
        const text = error.code === 'ENOENT' ? `${this.launch.program} is not installed` : error.message;
        reject(new NightshiftError('SANDBOX_UNAVAILABLE', text, { cause: error }));
      });
      // 'exit' and not 'close': a detached child that keeps the pipe open must not hold the answer back.
      this.child.on('exit', (code, signal) => {
        if (!this.launch.isolated) this.kill();
        const finish = (): void => {
          if (!this.running) return;
          const outOfMemory = this.group?.outOfMemory() ?? false;
          this.cleanUp();
          this.output.finish();
          resolve({
            exitCode: code ?? undefined,
            signal: signal ?? undefined,
            reason: this.reason ?? (outOfMemory ? 'memory' : undefined),
            ms: Math.round(performance.now() - this.started),
            processesEnded: this.processesEnded,
          });
        };
        this.child.on('close', finish);
        this.timers.push(setTimeout(finish, 1_000));
      });
    });
  }

  private cleanUp(): void {
    this.running = false;
    for (const timer of this.timers) clearTimeout(timer);
    this.group?.remove();
  }
}
