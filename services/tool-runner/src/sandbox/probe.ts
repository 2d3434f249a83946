import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bubblewrapArguments } from './bubblewrap';
import type { Isolation } from './sandbox';
import { seatbeltProfile } from './seatbelt';

/** What this host says about namespaces; undefined where the file does not exist. */
export interface HostFacts {
  maxUserNamespaces: string | undefined;
  unprivilegedClone: string | undefined;
  appArmorRestricts: string | undefined;
  seccomp: string | undefined;
}

/**
 * Starts a command in the sandbox and looks at what it could do. Only what was proved counts: a sandbox that starts but
 * lets a write to the system or a network interface through is no sandbox.
 * @param root directory of the runner in which a scratch directory is made.
 */
export async function probeSandbox(root: string, path: string, readOnly: readonly string[]): Promise<Isolation> {
  mkdirSync(root, { recursive: true });
  const scratch = mkdtempSync(join(root, '.probe-'));
  const [tree, temporary] = [join(scratch, 'tree'), join(scratch, 'tmp')];
  mkdirSync(tree);
  mkdirSync(temporary);
  try {
    if (process.platform === 'darwin') return await probeSeatbelt(tree, temporary, path, readOnly);
    const first = await probeBubblewrap(tree, temporary, path, readOnly, true);
    // bubblewrap before 0.8 does not know --disable-userns.
    return first.kind === 'none' && first.reason.includes('disable-userns')
      ? await probeBubblewrap(tree, temporary, path, readOnly, false)
      : first;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Prints one line per thing that should not have been possible; `ok` when the rest ran. Its writes to /proc keep the value. */
const trial = `
touch ./inside || echo "cannot write to the workspace"
touch /tmp/inside || echo "cannot write to /tmp"
( : > /usr/nightshift-probe ) 2>/dev/null && echo "can write to the system"
( : > ../outside ) 2>/dev/null
[ "$(ls /proc | grep -c '^[0-9]')" -lt 10 ] || echo "sees the processes of the host"
[ -z "$NIGHTSHIFT_PROBE" ] || echo "sees the environment of the runner"
value=$(cat /proc/sys/vm/swappiness)
( echo "$value" > /proc/sys/vm/swappiness ) 2>/dev/null && echo "can change kernel settings"
[ "$(grep -c : /proc/net/dev)" -le 1 ] || echo "has a network interface"
echo ok`;

async function probeBubblewrap(
  tree: string,
  temporary: string,
  path: string,
  readOnly: readonly string[],
  disable: boolean,
): Promise<Isolation> {
  const args = bubblewrapArguments({
    tree,
    temporary,
    directory: tree,
    readOnly,
    protectedPaths: [],
    environment: { PATH: path },
    disableUserNamespaces: disable,
  });
  const result = await run('bwrap', [...args, 'bash', '--noprofile', '--norc', '-c', trial], path);
  if (result.missing) return { kind: 'none', reason: 'bubblewrap (bwrap) is not installed' };
  const lines = result.stdout.trim().split('\n');
  // Looked at from here: below /tmp the write succeeds inside, in the private directory.
  if (existsSync(join(tree, '../outside'))) lines.unshift('can write beside the workspace');
  if (lines.length === 1 && lines[0] === 'ok') return { kind: 'bubblewrap', disableUserNamespaces: disable };
  if (lines.at(-1) === 'ok')
    return { kind: 'none', reason: `the sandbox does not hold: a command ${lines.slice(0, -1).join(', ')}` };
  return { kind: 'none', reason: explain(result.stderr, hostFacts()) };
}

async function probeSeatbelt(tree: string, temporary: string, path: string, readOnly: readonly string[]): Promise<Isolation> {
  const profile = seatbeltProfile({ tree, temporary, readOnly });
  const script = 'touch "$1/inside" && ! touch "$2/outside" 2>/dev/null && echo ok';
  const result = await run('sandbox-exec', ['-p', profile, 'bash', '-c', script, 'bash', tree, join(tree, '..')], path);
  if (result.stdout.trim() === 'ok') return { kind: 'seatbelt' };
  return { kind: 'none', reason: `sandbox-exec does not work here: ${result.stderr.trim() || 'no output'}` };
}

/** Names the permission that is missing, from bwrap's message and the host's settings. */
export function explain(stderr: string, facts: HostFacts): string {
  const said = stderr.trim().split('\n').at(-1) ?? '';
  const quoted = said ? ` (bwrap: ${said.replace(/^bwrap: /, '')})` : '';
  if (facts.maxUserNamespaces === '0')
    return `user namespaces are switched off: set sysctl user.max_user_namespaces above 0${quoted}`;
  if (facts.unprivilegedClone === '0')
    return `unprivileged user namespaces are switched off: set sysctl kernel.unprivileged_userns_clone=1${quoted}`;
  if (/mount proc/i.test(said)) {
    return `mounting /proc is not permitted: a container needs an unmasked /proc (Docker: --security-opt systempaths=unconfined, Kubernetes: procMount: Unmasked)${quoted}`;
  }
  if (/namespace|clone|unshare|uid map|Operation not permitted/i.test(said)) {
    if (facts.appArmorRestricts === '1') {
      return `AppArmor forbids unprivileged user namespaces: load a profile that grants userns to bwrap, or set sysctl kernel.apparmor_restrict_unprivileged_userns=0${quoted}`;
    }
    if (facts.seccomp === '2') {
      return `the container's seccomp profile forbids new namespaces: allow clone, unshare, mount, pivot_root and umount2 (Docker: --security-opt seccomp=<profile>)${quoted}`;
    }
    return `the permission to create namespaces is missing${quoted}`;
  }
  return `the sandbox could not be started${quoted}`;
}

function hostFacts(): HostFacts {
  return {
    maxUserNamespaces: valueOf('/proc/sys/user/max_user_namespaces'),
    unprivilegedClone: valueOf('/proc/sys/kernel/unprivileged_userns_clone'),
    appArmorRestricts: valueOf('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    seccomp: /^Seccomp:\s*(\d)/m.exec(valueOf('/proc/self/status') ?? '')?.[1],
  };
}

function valueOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

interface Outcome {
  stdout: string;
  stderr: string;
  missing: boolean;
}

function run(program: string, args: readonly string[], path: string): Promise<Outcome> {
  return new Promise((resolve) => {
    // A variable that must not show inside.
    const env = { PATH: path, NIGHTSHIFT_PROBE: 'visible' };
    execFile(program, args, { env, timeout: 10_000, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      resolve({ stdout, stderr: stderr || (error?.message ?? ''), missing: error?.code === 'ENOENT' });
    });
  });
}
