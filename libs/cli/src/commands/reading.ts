import type { Command } from 'commander';
import type { Api } from '../client/api';
import type { EntryJson, GenerationJson, ToolCallJson, ViewJson } from '../client/shapes';
import { entryLines, viewLines } from '../show/entries';
import { diffViews, viewDiffText } from '../show/view-diff';
import { shorten } from '../show/event-line';
import { moment } from '../show/numbers';
import { table } from '../show/table';
import { print, type Context } from './context';

interface Diff {
  patch: string;
  files: Array<{ path: string; kind: string }>;
}

/** What a task changed, as text; empty when it changed nothing. */
export async function diffText(api: Api, id: string): Promise<string> {
  const { patch, files } = await api.get<Diff>(`/v1/tasks/${id}/diff`);
  if (files.length === 0 && patch === '') return 'no file was changed\n';
  return `${files.map((file) => `${file.kind.padEnd(8)} ${file.path}`).join('\n')}\n\n${patch}\n`;
}

/** `logs`, `calls`, `generations`, `view`, `diff`. */
export function readingCommands(program: Command, context: Context): void {
  program
    .command('logs')
    .description('the transcript of a task')
    .argument('<id>')
    .option('--after <seq>', 'begin after this entry', Number, 0)
    .option('--full', 'whole texts')
    .option('--json', 'lines of JSON')
    .action(async (id: string, options: { after: number; full?: boolean; json?: boolean }) => {
      for await (const entry of entriesOf(context.api(), id, options.after)) {
        if (options.json) context.output.write(`${JSON.stringify(entry)}\n`);
        else context.output.write(`${entryLines(entry, options.full ?? false).join('\n')}\n`);
      }
    });

  program
    .command('calls')
    .description('the ledger of tool calls')
    .argument('<id>')
    .option('--json')
    .action(async (id: string, options: { json?: boolean }) => {
      const query = { limit: 1000 };
      const { calls } = await context.api().get<{ calls: ToolCallJson[] }>(`/v1/tasks/${id}/tool-calls`, { query });
      print(context, options.json, calls, () =>
        table(
          ['entry', 'tool', 'effect', 'state', 'arguments'],
          calls.map((call) => [call.entrySeq, call.tool, call.effect, call.state, shorten(call.argumentsJson, 70)]),
        ),
      );
    });

  program
    .command('generations')
    .description('every compaction of a task')
    .argument('<id>')
    .option('--json')
    .action(async (id: string, options: { json?: boolean }) => {
      const { generations } = await context.api().get<{ generations: GenerationJson[] }>(`/v1/tasks/${id}/generations`);
      print(
        context,
        options.json,
        generations,
        () => generations.map((one) => generationText(one, generations)).join('\n') || '(none)\n',
      );
    });

  program
    .command('view')
    .description('what the model is sent: now, or right after an earlier compaction')
    .argument('<id>')
    .option('--generation <n>', 'the view of that compaction', Number)
    .option('--against <n>', 'what differs from the view of this compaction; 0: from before the first one', Number)
    .option('--full', 'whole texts')
    .option('--json')
    .action(async (id: string, options: { generation?: number; against?: number; full?: boolean; json?: boolean }) => {
      const viewOf = (generation: number | undefined): Promise<ViewJson> =>
        context.api().get<ViewJson>(`/v1/tasks/${id}/view`, { query: { generation } });
      const view = await viewOf(options.generation);
      if (options.against !== undefined) {
        const against = await viewOf(options.against);
        print(context, options.json, diffViews(against, view), () => `${viewDiffText(against, view).join('\n')}\n`);
        return;
      }
      print(context, options.json, view, () => `${viewLines(view, options.full ?? false).join('\n')}\n`);
    });

  program
    .command('diff')
    .description('what a task changed in its workspace')
    .argument('<id>')
    .option('--json')
    .action(async (id: string, options: { json?: boolean }) => {
      const api = context.api();
      if (options.json) context.output.write(`${JSON.stringify(await api.get<Diff>(`/v1/tasks/${id}/diff`), null, 2)}\n`);
      else context.output.write(await diffText(api, id));
    });
}

async function* entriesOf(api: Api, id: string, after: number): AsyncGenerator<EntryJson> {
  for (let last = after; ; ) {
    const query = { after: last, limit: 200 };
    const page = await api.get<{ entries: EntryJson[]; more: boolean }>(`/v1/tasks/${id}/entries`, { query });
    for (const entry of page.entries) {
      yield entry;
      last = entry.seq;
    }
    if (!page.more || page.entries.length === 0) return;
  }
}

function generationText(one: GenerationJson, all: readonly GenerationJson[]): string {
  const undone = all.some((other) => other.undoes === one.generation && one.generation > 0);
  const mark = one.active ? ' (current)' : undone ? ' (undone)' : '';
  const head = `generation ${one.generation}${mark}  ${moment(one.atMs)}  ${one.reason} → ${one.outcome}, for ${one.provider}/${one.model}`;
  const tiers = table(
    ['tier', 'outcome', 'before', 'after', 'reason'],
    one.tiers.map((tier) => [tier.tier, tier.outcome, tier.before, tier.after, tier.reason]),
  );
  const loss = table(
    ['kind', 'fate', 'count', 'tokens', 'bytes'],
    (one.loss?.rows ?? []).map((line) => [line.kind, line.fate, line.count, line.tokens, line.bytes]),
  );
  const figures = table(
    ['before', 'after', 'threshold', 'window'],
    [[one.before, one.after, one.effectiveThreshold || one.threshold, one.window]],
  );
  return `${head}\n${figures}\n${tiers}\n${loss}`;
}
