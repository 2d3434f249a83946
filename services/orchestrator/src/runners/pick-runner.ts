import path from 'node:path';
import type { StoredWorkspace } from '../tasks/task-details';
import type { RunnerRow } from './runner.store';

export type Picked = { readonly runner: string } | { readonly reason: string };

/**
 * Which runner opens a workspace: the one that had it, else the least loaded that may. A directory needs a runner whose
 * allowed roots hold it. Pure.
 * @param live live runners, the least loaded first
 */
export function pickRunner(live: readonly RunnerRow[], workspace: StoredWorkspace): Picked {
  const before = live.find(({ id }) => id === workspace.runner);
  if (before) return { runner: before.id };
  if (live.length === 0) return { reason: 'no tool runner is there' };
  const fitting = live.filter(
    ({ allowedRoots }) => workspace.directory === '' || allowedRoots.some((root) => below(root, workspace.directory)),
  );
  if (fitting.length === 0)
    return { reason: `no tool runner may work in ${workspace.directory}: it is below none of their allowed roots` };
  // One that can sandbox first, whatever the task allows.
  const chosen = fitting.find(({ sandboxed }) => sandboxed) ?? fitting[0];
  return chosen ? { runner: chosen.id } : { reason: 'no tool runner is there' };
}

function below(root: string, directory: string): boolean {
  const relative = path.posix.relative(root, directory);
  return relative === '' || (!relative.startsWith('..') && !path.posix.isAbsolute(relative));
}
