import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { findBeneath } from '../files/beneath';
import { answer } from './answer';
import { ripgrep } from './ripgrep';
import type { PlanTool, ToolContext } from './tool';

const maxEntries = 2_000;

export const listFiles: PlanTool<'list_files'> = async (args, context) => ({
  perform: async () => {
    const place = findBeneath(context.workspace.record.path, args.path ?? '.');
    try {
      if (!place.stats) throw new NightshiftError('NOT_FOUND', `${args.path}: no such directory`);
      if (!place.stats.isDirectory())
        throw new NightshiftError('INVALID_ARGUMENT', `${place.path} is a file: read_file shows it`);
      const depth = args.depth ?? 1;
      if (args.glob === undefined && depth === 1) return answer(listing(oneLevel(place.at), place.path));
      return answer(listing(await deep(place.at, depth, args.glob, context), place.path));
    } finally {
      place.close();
    }
  },
});

interface Listed {
  entries: string[];
  more: boolean;
}

function oneLevel(directory: string): Listed {
  const names = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const entries = names.slice(0, maxEntries).map((entry) => {
    if (entry.isDirectory()) return `${entry.name}/`;
    if (entry.isSymbolicLink()) return `${entry.name} (link)`;
    const size = lstatSync(join(directory, entry.name), { throwIfNoEntry: false })?.size;
    return entry.isFile() ? `${entry.name} ${size ?? 0}` : `${entry.name} (special)`;
  });
  return { entries, more: names.length > maxEntries };
}

async function deep(directory: string, depth: number, glob: string | undefined, context: ToolContext): Promise<Listed> {
  const args = ['--files', '--hidden', '--glob=!.git', '--sort=path'];
  // A glob looks at every level unless a depth is given with it; a depth of 1 is the default of the argument.
  if (glob === undefined || depth > 1) args.push(`--max-depth=${depth}`);
  if (glob !== undefined) args.push(`--glob=${glob}`);
  // "./" is not printed; the directory is the open one, whatever its name is by now.
  const found = await ripgrep(context.ripgrep, args, directory, { lines: maxEntries, chars: 400_000 }, context.signal);
  return { entries: found.lines, more: found.more };
}

function listing({ entries, more }: Listed, path: string): string {
  if (entries.length === 0) return `[nothing in ${path || '.'}]`;
  return more
    ? `${entries.join('\n')}\n[only the first ${entries.length} entries; list a subdirectory or give a glob]`
    : entries.join('\n');
}
