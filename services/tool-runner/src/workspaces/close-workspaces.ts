import { Injectable } from '@nestjs/common';
import { Runner } from '../runner';

/** Ends a workspace: its commands first, then the journal, then the files. */
@Injectable()
export class CloseWorkspaces {
  constructor(private readonly runner: Runner) {}

  /** @param keep leaves the files; only what runs is ended. */
  async close(team: string, id: string, keep: boolean): Promise<{ removed: boolean; reason: string }> {
    const workspace = await this.runner.workspaces.find(team, id);
    await this.runner.commands.stopWorkspace(team, id);
    if (keep) return { removed: false, reason: 'kept on request' };
    if (workspace) await this.runner.journals.close(workspace);
    const removed = await this.runner.workspaces.remove(team, id);
    if (!removed) return { removed, reason: 'this runner does not hold it' };
    const inPlace = workspace?.record.mode === 'in_place';
    return { removed, reason: inPlace ? `the directory ${workspace.record.path} was used in place and is left as it is` : '' };
  }
}
