import { NightshiftError } from '@nightshift/contracts';
import { findBeneath } from '../files/beneath';
import { answer } from './answer';
import { ripgrep } from './ripgrep';
import type { PlanTool } from './tool';

const defaultResults = 200;
const maxChars = 200_000;

export const searchFiles: PlanTool<'search_files'> = async (args, context) => ({
  perform: async () => {
    const place = findBeneath(context.workspace.record.path, args.path ?? '.');
    try {
      if (!place.stats) throw new NightshiftError('NOT_FOUND', `${args.path}: no such file or directory`);
      const results = args.max_results ?? defaultResults;
      const flags = ['--line-number', '--no-heading', '--with-filename', '--hidden', '--glob=!.git', '--sort=path'];
      flags.push('--max-columns=500', '--max-columns-preview', '--max-filesize=32M');
      if (args.ignore_case) flags.push('--ignore-case');
      if (args.literal) flags.push('--fixed-strings');
      if (args.context) flags.push(`--context=${args.context}`);
      if (args.glob !== undefined) flags.push(`--glob=${args.glob}`);
      const inDirectory = place.stats.isDirectory();
      const name = place.path.split('/').at(-1) as string;
      // The directory is entered through its open descriptor, so that no link can lead the search outside.
      const directory = inDirectory ? place.at : place.sibling('.');
      const target = inDirectory ? ['./'] : [`./${name}`];
      const bounds = { lines: results * (1 + 2 * (args.context ?? 0)), chars: maxChars };
      const found = await ripgrep(
        context.ripgrep,
        [...flags, '--regexp', args.pattern, '--', ...target],
        directory,
        bounds,
        context.signal,
      );
      if (found.lines.length === 0) return answer('[no match]');
      const prefix = inDirectory ? place.path : place.path.split('/').slice(0, -1).join('/');
      const lines = found.lines.map((line) => (line.startsWith('./') ? `${prefix ? `${prefix}/` : ''}${line.slice(2)}` : line));
      const note = found.more ? `\n[only the first ${lines.length} lines; narrow the pattern, or set path or glob]` : '';
      return answer(lines.join('\n') + note);
    } finally {
      place.close();
    }
  },
});
