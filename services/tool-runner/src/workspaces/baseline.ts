import { isUtf8 } from 'node:buffer';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from '@nightshift/contracts';
import { create } from '@bufbuild/protobuf';
import { sha256 } from '../files/contents';
import type { Git, GitOptions } from './git';

/**
 * A bare repository that belongs to the runner and that commands cannot see: the state of the tree at opening. The
 * repository inside the workspace is never asked, since the agent can write its configuration.
 */
export class Baseline {
  constructor(
    private readonly git: Git,
    private readonly directory: string,
    private readonly tree: string,
  ) {}

  /** Creates the repository. `sharedObjects` is an object directory whose content need not be stored again. */
  async create(sharedObjects: string): Promise<void> {
    for (const part of ['objects/info', 'refs', 'info']) await mkdir(join(this.directory, part), { recursive: true });
    await writeFile(join(this.directory, 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(join(this.directory, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
    // Attributes of the tree must not normalise line ends or run filters: a patch has the real bytes.
    await writeFile(join(this.directory, 'info/attributes'), '* -text -eol -filter -ident -working-tree-encoding\n');
    await writeFile(join(this.directory, 'info/exclude'), 'node_modules/\n.venv/\n__pycache__/\n.nightshift-*.tmp\n');
    if (sharedObjects) await writeFile(join(this.directory, 'objects/info/alternates'), `${sharedObjects}\n`);
  }

  /** The tree as it is now, as a git tree id. Ignored files are left out. */
  async snapshot(signal?: AbortSignal): Promise<string> {
    // INTERNAL, so that it is tried again: the repository is the runner's own, and a git that a killed runner left behind may
    // still hold its lock.
    const options: GitOptions = { ...this.options(signal), timeoutMs: 100_000, fault: 'INTERNAL' };
    await this.git.run(['add', '--all', '--ignore-errors'], options, [0, 1]);
    return this.git.line(['write-tree'], options);
  }

  /** Takes a commit of the shared objects as the state at opening. */
  async readTree(commit: string): Promise<string> {
    await this.git.run(['read-tree', commit], this.options());
    return this.git.line(['rev-parse', `${commit}^{tree}`], this.options());
  }

  /** Everything that differs from `base`, as a binary-safe patch cut at `maxBytes`. */
  async diff(base: string, maxBytes: number, signal?: AbortSignal): Promise<Diff> {
    const now = await this.snapshot(signal);
    const options = this.options(signal);
    const flags = ['--no-renames', '--no-ext-diff', '--no-textconv', '--no-color', base, now];
    const raw = await this.git.run(['diff', '--raw', '-z', '--no-abbrev', ...flags], options);
    const files = parseRaw(raw.stdout.toString('utf8'));
    const readPatch = () => this.git.run(['diff', '--binary', '--full-index', ...flags], { ...options, maxBytes: 4 * maxBytes });
    let patch = (await readPatch()).stdout;
    const notText = sections(patch).flatMap((section, index) => (isUtf8(section) ? [] : [files[index]?.path ?? '']));
    if (notText.length > 0) {
      // A patch travels as text: files in another encoding go into it in git's binary form.
      await appendFile(
        join(this.directory, 'info/attributes'),
        notText.map((path) => `${JSON.stringify(path)} -diff\n`).join(''),
      );
      patch = (await readPatch()).stdout;
    }
    const fitting = wholeSections(patch, maxBytes);
    const hashes = await this.hashes([...new Set(files.flatMap((file) => [file.before, file.after]))], options);
    return {
      patch: fitting.toString('utf8'),
      truncated: fitting.length < patch.length || patch.length >= 4 * maxBytes,
      files: files.map((file) =>
        create(tool.FileChangeSchema, {
          path: file.path,
          kind: file.kind,
          beforeSha256: hashes.get(file.before) ?? '',
          afterSha256: hashes.get(file.after) ?? '',
        }),
      ),
    };
  }

  async apply(patch: string): Promise<void> {
    await this.git.run(['apply', '--binary', '--whitespace=nowarn', '-'], { ...this.options(), input: patch });
  }

  /** sha256 of blobs: git names them by another hash. */
  private async hashes(blobs: readonly string[], options: GitOptions): Promise<Map<string, string>> {
    const wanted = blobs.filter((blob) => !/^0+$/.test(blob)).slice(0, 2_000);
    const found = new Map<string, string>();
    if (wanted.length === 0) return found;
    const { stdout } = await this.git.run(['cat-file', '--batch'], {
      ...options,
      input: `${wanted.join('\n')}\n`,
      maxBytes: 256 * 1024 * 1024,
    });
    let at = 0;
    while (at < stdout.length) {
      const end = stdout.indexOf(10, at);
      if (end < 0) break;
      const [blob = '', , size] = stdout.toString('latin1', at, end).split(' ');
      at = end + 1;
      if (size === undefined) continue;
      found.set(blob, sha256(stdout.subarray(at, at + Number(size))));
      at += Number(size) + 1;
    }
    return found;
  }

  private options(signal?: AbortSignal): GitOptions {
    return {
      directory: this.tree,
      signal,
      environment: { GIT_DIR: this.directory, GIT_WORK_TREE: this.tree, GIT_INDEX_FILE: join(this.directory, 'index') },
    };
  }
}

export interface Diff {
  patch: string;
  files: tool.FileChange[];
  truncated: boolean;
}

interface RawChange {
  path: string;
  before: string;
  after: string;
  kind: 'created' | 'changed' | 'deleted';
}

/** Parses `git diff --raw -z`: ":mode mode blob blob S\0path\0" per file. */
export function parseRaw(text: string): RawChange[] {
  const fields = text.split('\0');
  const changes: RawChange[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [, , before = '', after = '', status = ''] = (fields[index] as string).split(' ');
    changes.push({
      path: fields[index + 1] as string,
      before,
      after,
      kind: status === 'A' ? 'created' : status === 'D' ? 'deleted' : 'changed',
    });
  }
  return changes;
}

const sectionStart = Buffer.from('\ndiff --git ');

/** The parts of a patch, one per file. */
export function sections(patch: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let start = 0;
  while (start < patch.length) {
    const next = patch.indexOf(sectionStart, start);
    const end = next < 0 ? patch.length : next + 1;
    found.push(patch.subarray(start, end));
    start = end;
  }
  return found;
}

/** As many whole files of a patch as fit: half a file's patch cannot be applied. */
export function wholeSections(patch: Buffer, maxBytes: number): Buffer {
  let end = 0;
  for (const section of sections(patch)) {
    if (end + section.length > maxBytes) break;
    end += section.length;
  }
  return patch.subarray(0, end);
}
