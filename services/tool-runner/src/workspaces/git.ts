import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NightshiftError, type ErrorCode } from '@nightshift/contracts';

/**
 * Settings that keep a repository from running code in the runner: its hooks, monitors, editors and credential helpers.
 * A file and not `-c` options, since git drops those when it starts upload-pack for a local clone.
 */
const safeConfig = `# Written by the tool runner at every start.
[core]
\thooksPath = /dev/null
\tfsmonitor = false
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tautocrlf = false
\tpager = cat
\teditor = false
\taskPass = true
[safe]
\tdirectory = *
[protocol "ext"]
\tallow = never
[submodule]
\trecurse = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[init]
\ttemplateDir =
\tdefaultBranch = main
[credential]
\thelper =
[user]
\tname = nightshift
\temail = nightshift@localhost
[advice]
\tdetachedHead = false
`;

export interface GitOptions {
  directory?: string;
  environment?: Readonly<Record<string, string>>;
  input?: string;
  signal?: AbortSignal;
  /** Milliseconds; default 60 000. */
  timeoutMs?: number;
  /** The answer is cut after this many bytes; default 16 MB. */
  maxBytes?: number;
  /** Code of a failure; default FAILED_PRECONDITION. */
  fault?: ErrorCode;
}

export interface GitOutput {
  code: number;
  stdout: Buffer;
  stderr: string;
  truncated: boolean;
  /** Ended by a signal, other than for writing too much. */
  killed: boolean;
}

/** The git binary with an environment in which nothing of the host or of the repository's owner takes effect. */
export class Git {
  private readonly environment: Record<string, string>;

  /**
   * @param home directory of the runner where the configuration is written.
   * @param path PATH on which git is found.
   */
  constructor(home: string, path: string) {
    mkdirSync(home, { recursive: true });
    const config = join(home, 'gitconfig');
    writeFileSync(config, safeConfig);
    this.environment = {
      PATH: path,
      HOME: home,
      LC_ALL: 'C',
      GIT_CONFIG_GLOBAL: config,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ALLOW_PROTOCOL: 'https:ssh:file',
      GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
      GIT_LFS_SKIP_SMUDGE: '1',
      GIT_OPTIONAL_LOCKS: '0',
      // Once more with the highest rank: the configuration of a repository outranks the file above.
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: '/dev/null',
      GIT_CONFIG_KEY_1: 'core.fsmonitor',
      GIT_CONFIG_VALUE_1: 'false',
    };
  }

  /**
   * Runs git; throws with its message unless it exits with 0 or one of `accept`. Ended by the time limit or by a signal from
   * elsewhere, it says nothing about the repository: DEADLINE_EXCEEDED, which may be tried again.
   */
  async run(args: readonly string[], options: GitOptions = {}, accept: readonly number[] = [0]): Promise<GitOutput> {
    const output = await this.spawn(args, options);
    if (accept.includes(output.code)) return output;
    const reason = output.stderr.trim().split('\n').slice(-5).join('\n') || `exit code ${output.code}`;
    const fault = output.killed ? 'DEADLINE_EXCEEDED' : (options.fault ?? 'FAILED_PRECONDITION');
    throw new NightshiftError(fault, `git ${args.find((arg) => !arg.startsWith('-')) ?? ''}: ${reason}`);
  }

  async line(args: readonly string[], options: GitOptions = {}): Promise<string> {
    return (await this.run(args, options)).stdout.toString('utf8').trim();
  }

  private spawn(args: readonly string[], options: GitOptions): Promise<GitOutput> {
    const { directory, environment, input, signal, timeoutMs = 60_000, maxBytes = 16 * 1024 * 1024 } = options;
    return new Promise((resolve, reject) => {
      const child = spawn('git', args, {
        cwd: directory,
        env: { ...this.environment, ...environment },
        stdio: ['pipe', 'pipe', 'pipe'],
        signal,
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      let truncated = false;
      let stderr = '';
      child.stdout.on('data', (chunk: Buffer) => {
        if (truncated) return;
        const room = maxBytes - bytes;
        chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
        bytes += Math.min(chunk.length, room);
        if (chunk.length <= room) return;
        truncated = true;
        child.kill('SIGKILL');
      });
      child.stderr.on('data', (chunk: Buffer) => {
        if (stderr.length < 16_384) stderr += chunk.toString('utf8');
      });
      child.on('error', (error: NodeJS.ErrnoException) => {
        if (error.name === 'AbortError') reject(new NightshiftError('CANCELLED', 'git was stopped', { cause: error }));
        else if (error.code === 'ENOENT')
          reject(new NightshiftError('FAILED_PRECONDITION', 'git is not installed', { cause: error }));
        else reject(NightshiftError.from(error));
      });
      child.on('close', (code, killed) => {
        const ended = killed !== null && !truncated;
        resolve({
          code: truncated ? 0 : (code ?? 128),
          stdout: Buffer.concat(chunks),
          stderr: ended ? `${stderr}\nended by ${killed}; its limit is ${timeoutMs} ms` : stderr,
          truncated,
          killed: ended,
        });
      });
      // git may end before it has read everything; its exit code tells what happened.
      child.stdin.on('error', () => undefined);
      child.stdin.end(input ?? '');
    });
  }
}
