import { join } from 'node:path';
import { z } from 'zod';

export const workspaceModes = ['worktree', 'copy', 'in_place', 'clone'] as const;
export type WorkspaceMode = (typeof workspaceModes)[number];

/** What is kept beside a workspace, so that a restarted runner finds it again. Written last: its presence means "complete". */
export const workspaceRecord = z.object({
  version: z.literal(1),
  team: z.string(),
  id: z.string(),
  /** Real path of the working tree. */
  path: z.string(),
  mode: z.enum(workspaceModes),
  baseCommit: z.string(),
  /** Git tree of the state before the first change; diffs are taken against it. Empty: nothing was changed yet. */
  baseTree: z.string(),
  /** Object directory of the repository that the checkout shares objects with; read-only for commands. */
  sharedObjects: z.string(),
  openedAtMs: z.number(),
});
export type WorkspaceRecord = z.infer<typeof workspaceRecord>;

/** Where the parts of a workspace lie: `<root>/<team>/<id>/…`. Only `tree` and `tmp` are visible to commands. */
export function layout(root: string, team: string, id: string) {
  const home = join(root, team, id);
  return {
    home,
    record: join(home, 'workspace.json'),
    tree: join(home, 'tree'),
    temporary: join(home, 'tmp'),
    repository: join(home, 'repository.git'),
    baseline: join(home, 'baseline.git'),
    journal: join(home, 'journal.log'),
  };
}
export type WorkspaceLayout = ReturnType<typeof layout>;

export interface Workspace {
  readonly record: WorkspaceRecord;
  readonly layout: WorkspaceLayout;
}
