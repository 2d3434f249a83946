import type { Command } from 'commander';
import type { TaskJson } from '../client/shapes';
import { endingOf, followOnScreen } from '../follow/follow-on-screen';
import { shorten } from '../show/event-line';
import { duration, moment } from '../show/numbers';
import { tokenLine } from '../show/status-line';
import { table } from '../show/table';
import { print, type Context } from './context';

/** `tasks`, `status ID`, `watch ID`. */
export function tasksCommands(program: Command, context: Context): void {
  program
    .command('tasks')
    .description('list tasks, newest first')
    .option('--state <state>', 'only tasks in this state')
    .option('--limit <n>', 'how many', Number, 50)
    .option('--json')
    .action(async (options: { state?: string; limit: number; json?: boolean }) => {
      const query = { state: options.state, limit: options.limit };
      const reply = await context.api().get<{ tasks: TaskJson[]; more: boolean }>('/v1/tasks', { query });
      print(context, options.json, reply, () => table(['id', 'state', 'started', 'calls', 'goal'], reply.tasks.map(row)));
    });

  program
    .command('status')
    .description('one task: state, tokens, plan, criteria')
    .argument('<id>')
    .option('--json')
    .action(async (id: string, options: { json?: boolean }) => {
      const task = await context.api().get<TaskJson>(`/v1/tasks/${id}`);
      print(context, options.json, task, () => `${describe(task).join('\n')}\n`);
    });

  program
    .command('watch')
    .description('follow a task; Ctrl-C detaches or cancels by choice')
    .argument('<id>')
    .option('--after <seq>', 'begin after this event', Number, 0)
    .option('--json', 'lines of JSON')
    .action(async (id: string, options: { after: number; json?: boolean }) => {
      await followOnScreen(context.api(), id, { ...options, output: context.output });
    });
}

function row(task: TaskJson): Array<string | number> {
  return [task.id, task.state, moment(task.createdAtMs), task.toolCalls, shorten(task.goal, 60)];
}

function describe(task: TaskJson): string[] {
  const lasted = (task.endedAtMs || task.updatedAtMs) - task.createdAtMs;
  const lines = [
    `task     ${task.id}`,
    `goal     ${shorten(task.goal, 400)}`,
    `started  ${moment(task.createdAtMs)}, ${duration(lasted)}`,
    `model    ${task.provider ? `${task.provider}/${task.model}` : '-'} of ${task.chain.map((one) => `${one.provider}/${one.model}`).join(', ')}`,
    `context  ${tokenLine(task)}`,
    `work     ${task.iterations} model calls, ${task.toolCalls} tool calls, ${task.generation} compactions`,
  ];
  if (task.workspace) {
    lines.push(
      `place    ${task.workspace.path || task.workspace.directory} (${task.workspace.mode}, ${task.workspace.sandboxed ? 'sandboxed' : 'not sandboxed'})`,
    );
  }
  if (task.question) lines.push(`asks     ${shorten(task.question, 1000)}`);
  for (const item of task.plan)
    lines.push(`plan     ${item.state === 'done' ? '[x]' : item.state === 'doing' ? '[>]' : '[ ]'} ${shorten(item.text)}`);
  return [...lines, '', ...endingOf(task)];
}
