import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NightshiftError, type tool } from '@nightshift/contracts';
import { type Egress, openEgress } from '../egress/egress-proxy';
import type { Workspace } from '../workspaces/workspace';
import { Command, type CommandEnd, type EndReason } from './command';
import { limitingShell, type Limits } from './limits';
import { launchIn, type SandboxSettings } from './sandbox';

/** Whose command it is: what a stop is addressed to. */
export interface Owner {
  team: string;
  taskId: string;
  callId: string;
}

interface Asked {
  owner: Owner;
  workspace: Workspace;
  command: string;
  /** Absolute; inside the workspace. */
  directory: string;
  limits: Limits;
  policy: tool.Policy | undefined;
}

interface Entry {
  owner: Owner;
  workspaceId: string;
  command: Command;
}

/** A command that goes on after its call was answered. */
export interface Background extends Entry {
  handle: string;
  text: string;
  /** Where the next `command_output` starts. */
  position: number;
}

const maxBackgroundPerTask = 8;
/** Finished background commands whose output can still be asked for, per runner. */
const maxFinished = 200;

/** Every process tree this runner has started and not yet seen the end of. */
export class Commands {
  private readonly running = new Set<Entry>();
  private readonly background = new Map<string, Background>();

  constructor(private readonly settings: SandboxSettings) {}

  get isolation(): SandboxSettings['isolation'] {
    return this.settings.isolation;
  }

  /** Starts a command. Throws SANDBOX_UNAVAILABLE when it cannot be isolated and nobody allowed otherwise. */
  async start(asked: Asked, onText: (text: string) => void): Promise<Command> {
    const { owner, workspace, limits, policy } = asked;
    mkdirSync(join(workspace.layout.temporary, 'home'), { recursive: true });
    const marker = `${owner.team}/${owner.callId}`;
    const egress = await this.openEgress(policy?.allowedHosts ?? []);
    try {
      const launch = launchIn(
        this.settings,
        {
          workspace,
          directory: asked.directory,
          environmentAllow: policy?.environmentAllow ?? [],
          allowUnsandboxed: policy?.allowUnsandboxed ?? false,
          marker,
          ...(egress ? { proxySocket: egress.socket } : {}),
        },
        ['bash', '--noprofile', '--norc', '-c', limitingShell(limits), 'bash', asked.command],
      );
      const command = new Command(launch, limits, `NIGHTSHIFT_CALL=${marker}`, this.settings.cgroup, onText);
      const entry = { owner, workspaceId: workspace.record.id, command };
      this.running.add(entry);
      const forget = (): void => {
        this.running.delete(entry);
        egress?.close();
      };
      command.ended.then(forget, forget);
      return command;
    } catch (error) {
      egress?.close();
      throw error;
    }
  }

  async startBackground(asked: Asked): Promise<Background> {
    const mine = [...this.running].filter((entry) => sameTask(entry.owner, asked.owner) && this.isBackground(entry.command));
    if (mine.length >= maxBackgroundPerTask) {
      throw new NightshiftError('FAILED_PRECONDITION', `${mine.length} background commands are running already; stop one first`);
    }
    const command = await this.start(asked, () => undefined);
    const handle = `cmd_${asked.owner.callId.replaceAll('-', '').slice(-12)}`;
    const entry = {
      owner: asked.owner,
      workspaceId: asked.workspace.record.id,
      command,
      handle,
      text: asked.command,
      position: 0,
    };
    this.background.set(handle, entry);
    this.dropFinished();
    return entry;
  }

  /** Throws NOT_FOUND for a handle of another task, and after a restart of the runner (which ended the command). */
  find(handle: string, owner: Owner): Background {
    const found = this.background.get(handle);
    if (found && sameTask(found.owner, owner)) return found;
    throw new NightshiftError(
      'NOT_FOUND',
      `no background command ${handle}: it was never started, or the runner was restarted and the command ended with it`,
    );
  }

  /** Ends everything of a task; resolves when nothing of it is alive. */
  stopTask(team: string, taskId: string, reason: EndReason): Promise<Stopped> {
    return this.stopWhere((entry) => entry.owner.team === team && entry.owner.taskId === taskId, reason);
  }

  stopWorkspace(team: string, workspaceId: string): Promise<Stopped> {
    return this.stopWhere((entry) => entry.owner.team === team && entry.workspaceId === workspaceId, 'stopped');
  }

  stopAll(reason: EndReason): Promise<Stopped> {
    return this.stopWhere(() => true, reason);
  }

  private async stopWhere(matches: (entry: Entry) => boolean, reason: EndReason): Promise<Stopped> {
    const entries = [...this.running].filter(matches);
    for (const { command } of entries) command.stop(reason);
    const ends = await Promise.allSettled(entries.map(({ command }) => command.ended));
    const processes = ends.reduce((sum, end) => sum + (end.status === 'fulfilled' ? end.value.processesEnded : 0), 0);
    return { background: entries.filter(({ command }) => this.isBackground(command)).length, processes };
  }

  /** Nothing for a command without hosts, and none where nothing is isolated: the network is open there. */
  private async openEgress(allowedHosts: readonly string[]): Promise<Egress | undefined> {
    const { isolation, allowInnerHosts } = this.settings;
    if (allowedHosts.length === 0 || isolation.kind === 'none') return undefined;
    if (isolation.kind === 'bubblewrap') return openEgress({ allowedHosts, allowInner: allowInnerHosts });
    throw new NightshiftError(
      'SANDBOX_UNAVAILABLE',
      'this sandbox cannot limit the network to named hosts; commands of this task are refused',
    );
  }

  private isBackground(command: Command): boolean {
    return [...this.background.values()].some((entry) => entry.command === command);
  }

  private dropFinished(): void {
    for (const [handle, entry] of this.background) {
      if (this.background.size <= maxFinished) return;
      if (!entry.command.isRunning) this.background.delete(handle);
    }
  }
}

export interface Stopped {
  /** Commands whose call was answered already. */
  background: number;
  processes: number;
}

function sameTask(a: Owner, b: Owner): boolean {
  return a.team === b.team && a.taskId === b.taskId;
}

/** One line about how a command ended. */
export function describeEnd(end: CommandEnd, limits: Limits): string {
  const after = `after ${(end.ms / 1000).toFixed(1)} s`;
  switch (end.reason) {
    case undefined:
      return end.exitCode === undefined ? `[ended by ${end.signal} ${after}]` : `[exit code ${end.exitCode} ${after}]`;
    case 'time':
      return `[ended ${after}: the time-out; ${end.processesEnded} processes were killed. Use timeout_seconds, or background: true]`;
    case 'output':
      return `[ended ${after}: it wrote far more than the ${limits.outputBytes} bytes that are kept]`;
    case 'memory':
      return `[ended ${after}: more than the ${limits.memoryMb} MB of memory that are allowed]`;
    case 'processes':
      return `[ended ${after}: more than the ${limits.processes} processes that are allowed]`;
    case 'stopped':
      return `[stopped ${after}; ${end.processesEnded} processes were killed]`;
    case 'cancelled':
      return `[killed ${after}: the task was cancelled]`;
    case 'lease':
      return `[killed ${after}: the runner had lost its connection to the orchestrator]`;
    case 'shutdown':
      return `[killed ${after}: the runner was shut down]`;
  }
}
