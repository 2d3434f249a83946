import type { Command } from 'commander';
import type { TaskJson } from '../client/shapes';
import { follow, hasEnded } from '../follow/follow';
import { endingOf } from '../follow/follow-on-screen';
import { compactFile, namesFile, withFileOptions } from '../compact-file/compact-file.command';
import { print, type Context } from './context';

type CompactOptions = { focus?: string } & Parameters<typeof compactFile>[2];

const receiptWaitMs = 30_000;

/** `cancel`, `pause`, `resume`, `send`, `compact`, `undo`. */
export function steeringCommands(program: Command, context: Context): void {
  program
    .command('cancel')
    .description('cancel a task and show what that stopped')
    .argument('<id>')
    .option('--reason <text>')
    .option('--json')
    .action(async (id: string, options: { reason?: string; json?: boolean }) => {
      const api = context.api();
      await api.post(`/v1/tasks/${id}/cancel`, { reason: options.reason });
      const quiet = { event: () => undefined, task: () => undefined };
      const task = await follow(api, id, quiet, AbortSignal.timeout(receiptWaitMs));
      const still = 'cancelling: not everything has confirmed yet; ask again with `nightshift status`';
      print(context, options.json, task, () => `${(hasEnded(task) ? endingOf(task) : [still]).join('\n')}\n`);
    });

  const acts: ReadonlyArray<readonly [verb: string, description: string]> = [
    ['pause', 'pause a task at the next safe point'],
    ['resume', 'go on with a paused or waiting task'],
    ['undo', 'take back the last compaction'],
  ];
  for (const [verb, description] of acts) {
    program
      .command(verb)
      .description(description)
      .argument('<id>')
      .option('--json')
      .action(async (id: string, options: { json?: boolean }) => {
        const task = await context.api().post<TaskJson>(`/v1/tasks/${id}/${verb}`);
        print(context, options.json, task, () => `${task.state}${task.reason ? `: ${task.reason}` : ''}\n`);
      });
  }

  program
    .command('send')
    .description('send a message to a task; it is read before the next model call')
    .argument('<id>')
    .argument('<text>')
    .option('--key <idempotency-key>', 'the same key is delivered once')
    .option('--json')
    .action(async (id: string, text: string, options: { key?: string; json?: boolean }) => {
      const headers = options.key ? { 'idempotency-key': options.key } : undefined;
      const task = await context.api().post<TaskJson>(`/v1/tasks/${id}/messages`, { text }, headers);
      print(context, options.json, task, () => `sent; the task is ${task.state}\n`);
    });

  const compact = program
    .command('compact')
    .description('compact a task now; with a session file of another agent: a dry run that shows what compaction would do')
    .argument('<id or file>')
    .option('--focus <text>', 'what the summary should keep above all')
    .option('--json');
  withFileOptions(compact).action(async (target: string, options: CompactOptions) => {
    if (namesFile(target)) return compactFile(context, target, options);
    const reply = await context.api().post<{ passId: string }>(`/v1/tasks/${target}/compact`, { focus: options.focus });
    print(context, options.json, reply, () => 'asked for; see `nightshift generations`\n');
  });
}
