import type { Workspace } from '../workspaces/workspace';
import { Journal } from './journal';

/** The journals of this process, opened on first use. */
export class Journals {
  private readonly open = new Map<string, Promise<Journal>>();

  of(workspace: Workspace): Promise<Journal> {
    const { journal } = workspace.layout;
    const known = this.open.get(journal);
    if (known) return known;
    const opening = Journal.open(journal);
    this.open.set(journal, opening);
    opening.catch(() => this.open.delete(journal));
    return opening;
  }

  /** Before the workspace is removed. */
  async close(workspace: Workspace): Promise<void> {
    const { journal } = workspace.layout;
    const known = this.open.get(journal);
    this.open.delete(journal);
    await (await known)?.close();
  }

  async closeAll(): Promise<void> {
    const all = [...this.open.values()];
    this.open.clear();
    await Promise.all(all.map(async (journal) => (await journal).close()));
  }
}
