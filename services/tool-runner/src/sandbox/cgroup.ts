import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from './limits';
import { signalProcess } from './process-tree';

/** Directories below which groups may be made; one for version 2, one per controller for version 1. */
export type CgroupParents = { version: 2; parent: string } | { version: 1; memory: string; pids: string };

const mount = '/sys/fs/cgroup';
const prefix = 'nightshift-';

/**
 * Finds where this process may make control groups: the only limits that hold for a whole process tree.
 * Undefined where it may not (an ordinary container); then the limits per process and the watch of the tree remain.
 */
export function findCgroup(): CgroupParents | undefined {
  try {
    const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
    return version1(lines) ?? version2(lines);
  } catch {
    // No cgroup file system, or read-only: an expected state that the probe reports.
    return undefined;
  }
}

function version1(lines: readonly string[]): CgroupParents | undefined {
  const parentOf = (controller: string): string | undefined => {
    const line = lines.find((entry) => entry.split(':')[1]?.split(',').includes(controller));
    return line && join(mount, controller, line.split(':')[2] as string);
  };
  const memory = parentOf('memory');
  const pids = parentOf('pids');
  if (!memory || !pids || !writable(memory) || !writable(pids)) return undefined;
  return { version: 1, memory, pids };
}

function version2(lines: readonly string[]): CgroupParents | undefined {
  const own = lines.find((entry) => entry.startsWith('0::'))?.slice(3);
  if (own === undefined) return undefined;
  const parent = join(mount, own);
  if (!existsSync(join(parent, 'cgroup.subtree_control')) || !writable(parent)) return undefined;
  try {
    enable(parent);
  } catch {
    // A group with processes cannot hand out controllers: move what is in it (us) into a leaf first.
    const leaf = join(parent, 'runner');
    mkdirSync(leaf, { recursive: true });
    for (const pid of readFileSync(join(parent, 'cgroup.procs'), 'utf8').trim().split('\n').filter(Boolean)) {
      writeFileSync(join(leaf, 'cgroup.procs'), pid);
    }
    enable(parent);
  }
  return { version: 2, parent };
}

function enable(parent: string): void {
  writeFileSync(join(parent, 'cgroup.subtree_control'), '+memory +pids');
}

function writable(parent: string): boolean {
  const probe = join(parent, `${prefix}${process.pid}-probe`);
  try {
    mkdirSync(probe);
    rmdirSync(probe);
    return true;
  } catch {
    return false;
  }
}

/** The group of one command. */
export interface Cgroup {
  /** Files to which a process writes its id to enter. */
  readonly entrances: readonly string[];
  processes(): number[];
  /** True when the kernel ended a process for want of memory. */
  outOfMemory(): boolean;
  /** Ends what is left and removes the group; to be called after the command has ended. */
  remove(): void;
}

let created = 0;

export function makeCgroup(parents: CgroupParents, limits: Limits): Cgroup {
  const name = `${prefix}${process.pid}-${++created}`;
  const memoryBytes = String(limits.memoryMb * 1024 * 1024);
  const groups: string[] = [];
  const make = (parent: string, values: Record<string, string>): void => {
    const group = join(parent, name);
    mkdirSync(group);
    groups.push(group);
    for (const [file, value] of Object.entries(values)) {
      if (existsSync(join(group, file))) writeFileSync(join(group, file), value);
    }
  };
  // The sandbox's own two processes count too.
  const processes = String(limits.processes + 2);
  if (parents.version === 2) {
    make(parents.parent, { 'memory.max': memoryBytes, 'memory.swap.max': '0', 'pids.max': processes, 'memory.oom.group': '1' });
  } else {
    make(parents.memory, { 'memory.limit_in_bytes': memoryBytes, 'memory.memsw.limit_in_bytes': memoryBytes });
    make(parents.pids, { 'pids.max': processes });
  }
  const memoryGroup = groups[0] as string;
  const members = (): number[] => processesOf(groups[groups.length - 1] as string);
  return {
    entrances: groups.map((group) => join(group, 'cgroup.procs')),
    processes: members,
    outOfMemory: () => outOfMemory(memoryGroup, parents.version),
    remove: () => {
      for (const pid of members()) signalProcess(pid, 'SIGKILL');
      for (const group of groups) removeLater(group, 50);
    },
  };
}

/** Removes the groups of runners that are gone: a killed runner cannot clean up after itself. */
export function sweepCgroups(parents: CgroupParents): void {
  for (const parent of parents.version === 2 ? [parents.parent] : [parents.memory, parents.pids]) {
    for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
      const owner = Number(name.slice(prefix.length).split('-')[0]);
      if (owner === process.pid || signalProcess(owner, 0)) continue;
      for (const pid of processesOf(join(parent, name))) signalProcess(pid, 'SIGKILL');
      removeLater(join(parent, name), 50);
    }
  }
}

function processesOf(group: string): number[] {
  try {
    return readFileSync(join(group, 'cgroup.procs'), 'utf8').trim().split('\n').filter(Boolean).map(Number);
  } catch {
    return []; // removed already
  }
}

function outOfMemory(group: string, version: 1 | 2): boolean {
  try {
    const text = readFileSync(join(group, version === 2 ? 'memory.events' : 'memory.oom_control'), 'utf8');
    return /^oom_kill [1-9]/m.test(text);
  } catch {
    return false; // an old kernel does not count them
  }
}

/** A group can be removed only once its last process is reaped, a moment after it was killed. */
function removeLater(group: string, attempts: number): void {
  try {
    rmdirSync(group);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || attempts === 0) return;
    setTimeout(() => removeLater(group, attempts - 1), 20).unref();
  }
}
