import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NightshiftError, type tool } from '@nightshift/contracts';
import { Baseline, type Diff } from './baseline';
import { checkOut } from './checkout';
import type { Git } from './git';
import { checkSource } from './source';
import { layout, type Workspace, type WorkspaceLayout, workspaceRecord, type WorkspaceRecord } from './workspace';

/** Bytes of a patch that fit a reply beside the list of files. */
export const maxPatchBytes = 6 * 1024 * 1024;

interface Settings {
  /** Directory on the runner's own disk. */
  root: string;
  allowedRoots: readonly string[];
}

/** The workspaces of this runner. What is on disk is the truth; the map only saves reading it again. */
export class Workspaces {
  private readonly known = new Map<string, Workspace>();
  private readonly opening = new Map<string, Promise<Workspace>>();
  private readonly baselines = new Map<string, Promise<void>>();
  private readonly root: string;

  constructor(
    private readonly git: Git,
    private readonly settings: Settings,
  ) {
    mkdirSync(settings.root, { recursive: true });
    this.root = realpathSync(settings.root);
  }

  /** Opens a workspace, or gives the one that was opened under this id before (also by an earlier process). */
  async open(team: string, request: tool.WorkspaceOpenRequest, now: number, signal?: AbortSignal): Promise<Workspace> {
    const key = keyOf(team, request.workspaceId);
    const under = this.opening.get(key);
    if (under) return under;
    const opening = this.findOrMake(team, request, now, signal);
    this.opening.set(key, opening);
    try {
      return await opening;
    } finally {
      this.opening.delete(key);
    }
  }

  /** Throws WORKSPACE_LOST when this runner does not hold it. */
  async get(team: string, id: string): Promise<Workspace> {
    const found = await this.find(team, id);
    if (!found) throw new NightshiftError('WORKSPACE_LOST', `this runner does not hold the workspace ${id}`);
    return found;
  }

  async find(team: string, id: string): Promise<Workspace | undefined> {
    const key = keyOf(team, id);
    const known = this.known.get(key);
    if (known) return known;
    const at = layout(this.root, team, id);
    if (!existsSync(at.record)) return undefined;
    const record = workspaceRecord.parse(JSON.parse(await readFile(at.record, 'utf8')));
    if (!existsSync(record.path)) return undefined;
    const workspace = { record, layout: at };
    this.known.set(key, workspace);
    return workspace;
  }

  /** All workspaces on disk. */
  list(): { team: string; id: string }[] {
    return directories(this.root).flatMap((team) =>
      directories(join(this.root, team))
        .filter((id) => existsSync(layout(this.root, team, id).record))
        .map((id) => ({ team, id })),
    );
  }

  /** Takes the state that diffs are taken against, unless that was done: called before anything of a task changes a file. */
  async beforeChange(team: string, id: string, signal?: AbortSignal): Promise<void> {
    const workspace = await this.get(team, id);
    if (workspace.record.baseTree !== '') return;
    const key = keyOf(team, id);
    let taking = this.baselines.get(key);
    if (!taking) {
      taking = this.takeBaseline(workspace, signal).finally(() => this.baselines.delete(key));
      this.baselines.set(key, taking);
    }
    await taking;
  }

  async diff(team: string, id: string, signal?: AbortSignal): Promise<Diff> {
    const { record, layout: at } = await this.get(team, id);
    if (record.baseTree === '') return { patch: '', files: [], truncated: false };
    return new Baseline(this.git, at.baseline, record.path).diff(record.baseTree, maxPatchBytes, signal);
  }

  /** Removes the runner's files of a workspace. A directory used in place is left as it is. */
  async remove(team: string, id: string): Promise<boolean> {
    const key = keyOf(team, id);
    const at = layout(this.root, team, id);
    this.known.delete(key);
    if (!existsSync(at.home)) return false;
    // The record goes first: what is left of a removal that was interrupted must not look complete.
    await rm(at.record, { force: true });
    await rm(at.home, { recursive: true, force: true, maxRetries: 3 });
    return true;
  }

  private async findOrMake(
    team: string,
    request: tool.WorkspaceOpenRequest,
    now: number,
    signal?: AbortSignal,
  ): Promise<Workspace> {
    return (await this.find(team, request.workspaceId)) ?? this.make(team, request, now, signal);
  }

  private async make(team: string, request: tool.WorkspaceOpenRequest, now: number, signal?: AbortSignal): Promise<Workspace> {
    const at = layout(this.root, team, request.workspaceId);
    const source = await checkSource(request, this.settings.allowedRoots, this.root);
    const checkout = await checkOut(this.git, source, at, signal);
    const baseline = new Baseline(this.git, at.baseline, checkout.path);
    const baseTree = request.patch ? await firstTree(baseline, checkout.baseTree, signal) : checkout.baseTree;
    if (request.patch) await baseline.apply(request.patch);
    return this.keep({ version: 1, team, id: request.workspaceId, ...checkout, baseTree, openedAtMs: now }, at);
  }

  private async takeBaseline({ record, layout: at }: Workspace, signal?: AbortSignal): Promise<void> {
    const baseTree = await firstTree(new Baseline(this.git, at.baseline, record.path), '', signal);
    await this.keep({ ...record, baseTree }, at);
  }

  private async keep(record: WorkspaceRecord, at: WorkspaceLayout): Promise<Workspace> {
    await writeDurably(at.record, JSON.stringify(record, undefined, 2));
    const workspace = { record, layout: at };
    this.known.set(keyOf(record.team, record.id), workspace);
    return workspace;
  }
}

/** The tree before the first change: the one of the checkout, or the files as they are now. */
async function firstTree(baseline: Baseline, tree: string, signal?: AbortSignal): Promise<string> {
  if (tree !== '') return tree;
  await baseline.create('');
  return baseline.snapshot(signal);
}

/** Ids become directory names: anything else than letters, digits, - and _ is refused. */
function keyOf(team: string, id: string): string {
  for (const part of [team, id]) {
    if (!/^[\w-]{1,128}$/.test(part)) {
      throw new NightshiftError('INVALID_ARGUMENT', `expected an id of letters, digits, - and _, found ${JSON.stringify(part)}`);
    }
  }
  return `${team}/${id}`;
}

function directories(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[\w-]+$/.test(entry.name))
    .map((entry) => entry.name);
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(`${path}.tmp`, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.tmp`, path);
}
