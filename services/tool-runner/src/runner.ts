import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { join } from 'node:path';
import { Logger, Metrics } from '@nightshift/metrics';
import { Journals } from './calls/journals';
import { RunningCalls } from './calls/running-calls';
import { SeenFiles } from './calls/seen-files';
import { StoppedTasks } from './calls/stopped-tasks';
import type { RunnerConfig } from './config';
import type { Lease } from './presence/lease';
import { findCgroup, sweepCgroups } from './sandbox/cgroup';
import { Commands } from './sandbox/commands';
import { probeSandbox } from './sandbox/probe';
import type { SandboxSettings } from './sandbox/sandbox';
import { findRipgrep } from './tools/ripgrep';
import { SeenContents } from './tools/seen-contents';
import { Git } from './workspaces/git';
import { Workspaces } from './workspaces/workspaces';

/** What this process holds: its workspaces, what runs in them, and what is known about both. */
@Injectable()
export class Runner implements OnApplicationShutdown {
  readonly running = new RunningCalls();
  readonly stopped = new StoppedTasks();
  readonly journals = new Journals();
  readonly seen = new SeenFiles();
  readonly contents = new SeenContents();

  private constructor(
    readonly config: RunnerConfig,
    readonly metrics: Metrics,
    readonly logger: Logger,
    readonly lease: Lease,
    readonly workspaces: Workspaces,
    readonly commands: Commands,
    readonly ripgrep: string,
  ) {
    metrics.onScrape(() => metrics.gauge('tool_running').set({}, this.running.size));
  }

  get id(): string {
    return this.config.RUNNER_ID;
  }

  /** Looks at what this machine can do. Throws FAILED_PRECONDITION when ripgrep is missing. */
  static async create(config: RunnerConfig, metrics: Metrics, logger: Logger, lease: Lease): Promise<Runner> {
    const own = join(config.WORKSPACE_ROOT, '.runner');
    const git = new Git(own, config.PATH);
    const cgroup = process.platform === 'linux' ? findCgroup() : undefined;
    if (cgroup) sweepCgroups(cgroup);
    const readOnly = [...config.SANDBOX_READ_PATHS, ...nodeHome()];
    const settings: SandboxSettings = {
      isolation: await probeSandbox(own, config.PATH, readOnly),
      cgroup,
      allowUnsandboxed: config.ALLOW_UNSANDBOXED,
      path: config.PATH,
      offeredEnvironment: config.COMMAND_ENVIRONMENT,
      readOnly,
      allowInnerHosts: config.ALLOW_INNER_HOSTS,
    };
    const workspaces = new Workspaces(git, { root: config.WORKSPACE_ROOT, allowedRoots: config.ALLOWED_ROOTS });
    return new Runner(config, metrics, logger, lease, workspaces, new Commands(settings), findRipgrep(config.PATH));
  }

  /** Calls are drained by now; what is left are background commands. */
  async onApplicationShutdown(): Promise<void> {
    await this.commands.stopAll('shutdown');
    await this.journals.closeAll();
  }

  /** What an announcement says about commands: sandboxed or not, and why not. */
  get sandbox(): { sandboxed: boolean; reason: string } {
    const { isolation } = this.commands;
    if (isolation.kind !== 'none') return { sandboxed: true, reason: '' };
    return { sandboxed: false, reason: isolation.reason };
  }
}

/** Where node lives when it was not installed with the system (nvm, volta): commands of JavaScript projects need it. */
function nodeHome(): string[] {
  const home = join(process.execPath, '..', '..');
  return ['/usr', '/opt', '/bin'].some((system) => home === system || home.startsWith(`${system}/`)) || home === '/'
    ? []
    : [home];
}
