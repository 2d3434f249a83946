import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { within } from '../workspaces/source';
import type { Workspace } from '../workspaces/workspace';
import { bridged, proxyEnvironment } from '../egress/bridge';
import { bubblewrapArguments } from './bubblewrap';
import type { CgroupParents } from './cgroup';
import { seatbeltProfile } from './seatbelt';

/** How commands are isolated on this machine; found by the probe at start. */
export type Isolation =
  | { kind: 'bubblewrap'; disableUserNamespaces: boolean }
  | { kind: 'seatbelt' }
  /** Nothing works: `reason` names the missing permission. */
  | { kind: 'none'; reason: string };

export interface SandboxSettings {
  isolation: Isolation;
  cgroup: CgroupParents | undefined;
  /** The operator allows commands without isolation (ALLOW_UNSANDBOXED). */
  allowUnsandboxed: boolean;
  path: string;
  /** Values that a policy may ask for by name. */
  offeredEnvironment: Readonly<Record<string, string>>;
  readOnly: readonly string[];
  /** Whether hosts that a task may reach may lie in private networks. */
  allowInnerHosts: boolean;
}

export interface Launch {
  program: string;
  arguments: string[];
  environment: Record<string, string>;
  directory: string;
  /** Whether the process tree has a pid namespace of its own. */
  isolated: boolean;
}

interface Asked {
  workspace: Workspace;
  directory: string;
  environmentAllow: readonly string[];
  allowUnsandboxed: boolean;
  proxySocket?: string;
  /** Finds processes that left their group when nothing is isolated. */
  marker: string;
}

/**
 * What to start so that `shell` and its arguments run isolated.
 * Throws SANDBOX_UNAVAILABLE when neither a sandbox nor the permission to go without one is there.
 */
export function launchIn(settings: SandboxSettings, asked: Asked, shell: readonly string[]): Launch {
  const { record, layout } = asked.workspace;
  const environment = commandEnvironment(settings, asked.environmentAllow);
  if (settings.isolation.kind === 'bubblewrap') {
    const args = bubblewrapArguments({
      tree: record.path,
      temporary: layout.temporary,
      directory: asked.directory,
      readOnly: [...settings.readOnly, ...(record.sharedObjects ? [record.sharedObjects] : [])],
      protectedPaths: protectedPaths(record.path),
      environment: asked.proxySocket ? { ...environment, ...proxyEnvironment } : environment,
      proxySocket: asked.proxySocket,
      disableUserNamespaces: settings.isolation.disableUserNamespaces,
    });
    return {
      program: 'bwrap',
      arguments: [...args, ...(asked.proxySocket ? bridged(shell) : shell)],
      environment: { PATH: settings.path },
      directory: '/',
      isolated: true,
    };
  }
  const outside = { ...environment, TMPDIR: layout.temporary, HOME: layout.temporary, ...markerVariable(asked.marker) };
  if (settings.isolation.kind === 'seatbelt') {
    const profile = seatbeltProfile({ tree: record.path, temporary: layout.temporary, readOnly: settings.readOnly });
    return {
      program: 'sandbox-exec',
      arguments: ['-p', profile, ...shell],
      environment: outside,
      directory: asked.directory,
      isolated: false,
    };
  }
  if (!settings.allowUnsandboxed || !asked.allowUnsandboxed) {
    throw new NightshiftError('SANDBOX_UNAVAILABLE', unavailable(settings, asked.allowUnsandboxed));
  }
  const [program = 'bash', ...args] = shell;
  return { program, arguments: args, environment: outside, directory: asked.directory, isolated: false };
}

/** Name and value by which processes of one call are recognised. */
export function markerVariable(marker: string): Record<string, string> {
  return { NIGHTSHIFT_CALL: marker };
}

function unavailable(settings: SandboxSettings, taskAllows: boolean): string {
  const reason = settings.isolation.kind === 'none' ? settings.isolation.reason : '';
  const missing = settings.allowUnsandboxed && !taskAllows ? 'the task' : 'the operator (ALLOW_UNSANDBOXED)';
  return `commands are refused: ${reason}. ${missing} does not allow running without a sandbox. The file tools still work.`;
}

function commandEnvironment(settings: SandboxSettings, allow: readonly string[]): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: visiblePath(settings),
    HOME: '/tmp/home',
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'nightshift',
    GIT_AUTHOR_EMAIL: 'nightshift@localhost',
    GIT_COMMITTER_NAME: 'nightshift',
    GIT_COMMITTER_EMAIL: 'nightshift@localhost',
  };
  for (const name of allow) {
    const value = settings.offeredEnvironment[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

/** PATH without the directories that do not exist inside: they would only tell about the host. */
function visiblePath({ path, readOnly, isolation }: SandboxSettings): string {
  if (isolation.kind !== 'bubblewrap') return path;
  const visible = ['/usr', '/bin', '/sbin', '/opt', ...readOnly];
  return path
    .split(':')
    .filter((directory) => visible.some((root) => within(directory, root)))
    .join(':');
}

/** Files of a repository in place that the user's own git would execute or obey later. */
function protectedPaths(tree: string): string[] {
  return ['.git/hooks', '.git/config'].map((name) => join(tree, name)).filter((path) => existsSync(path));
}
