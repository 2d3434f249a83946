import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Linux only; elsewhere nothing is found and only the process group is known. */
export interface TreeUsage {
  processes: number;
  residentBytes: number;
}

const pageBytes = 4_096;

function processIds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Processes of a pid namespace (its inode number), the sandbox's own reaper included. */
export function namespaceMembers(namespace: number): number[] {
  const wanted = `pid:[${namespace}]`;
  return processIds().filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/pid`) === wanted;
    } catch {
      return false; // ended meanwhile, or not ours to look at
    }
  });
}

/** Processes whose environment holds `marker`: finds what left its process group by setsid when nothing is isolated. */
export function markedProcesses(marker: string): number[] {
  return processIds().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(marker);
    } catch {
      return false; // ended meanwhile, or not ours to look at
    }
  });
}

export function usageOf(pids: readonly number[]): TreeUsage {
  let residentBytes = 0;
  let processes = 0;
  for (const pid of pids) {
    try {
      residentBytes += Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * pageBytes;
      processes++;
    } catch {
      continue; // ended meanwhile
    }
  }
  return { processes, residentBytes };
}

/** Sends a signal (0: only asks) to a process, or to a group when negative; false when it is gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
