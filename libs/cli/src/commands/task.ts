import { existsSync } from 'node:fs';
import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import type { Command } from 'commander';
import type { TaskJson } from '../client/shapes';
import { followOnScreen } from '../follow/follow-on-screen';
import { diffText } from './reading';
import { print, type Context } from './context';

interface TaskOptions {
  workspace?: string;
  gitUrl?: string;
  gitRef?: string;
  model?: string[];
  chain?: string;
  criteria?: string[];
  inPlace?: boolean;
  copy?: boolean;
  maxOutput?: number;
  maxIterations?: number;
  allowHost?: string[];
  allowUnsandboxed?: boolean;
  key?: string;
  detach?: boolean;
  json?: boolean;
}

export function taskCommand(program: Command, context: Context): void {
  program
    .command('task')
    .description('start a task and follow it')
    .argument('<goal>', 'what is to be reached, in words')
    .option('--workspace <dir>', 'directory to work in; a git directory is used through a worktree')
    .option('--git-url <url>', 'clone this repository instead')
    .option('--git-ref <ref>', 'branch, tag or commit of --git-url')
    .option('--in-place', 'work in the directory itself instead of a worktree')
    .option('--copy', 'work on a copy of the directory')
    .option('--model <provider/model...>', 'chain of models, first one first')
    .option('--chain <name>', 'a chain of nightshift.yaml')
    .option('--criteria <text...>', 'what must be true before the task may finish')
    .option('--max-output <tokens>', 'most tokens of one answer', Number)
    .option('--max-iterations <n>', 'most model calls', Number)
    .option('--allow-host <host...>', 'hosts that commands may reach; none by default')
    .option('--allow-unsandboxed', 'run commands even where no sandbox works')
    .option('--key <idempotency-key>', 'the same key gives the same task')
    .option('--detach', 'print the id and return')
    .option('--json', 'lines of JSON')
    .action(async (goal: string, options: TaskOptions) => runTask(context, goal, options));
}

async function runTask(context: Context, goal: string, options: TaskOptions): Promise<void> {
  const api = context.api();
  const headers = options.key ? { 'idempotency-key': options.key } : undefined;
  const task = await api.post<TaskJson>('/v1/tasks', bodyOf(goal, options), headers);
  if (options.detach) return print(context, options.json, task, () => `${task.id}\n`);
  if (!options.json) context.output.write(`task ${task.id}\n`);
  const last = await followOnScreen(api, task.id, { json: options.json, output: context.output });
  if (options.json) context.output.write(`${JSON.stringify({ task: last })}\n`);
  else if (last.state === 'completed' && last.workspace) context.output.write(await diffText(api, task.id));
  if (last.state === 'failed') process.exitCode = 1;
}

/** The body of POST /v1/tasks. @throws NightshiftError INVALID_ARGUMENT for options that contradict each other. */
export function bodyOf(goal: string, options: TaskOptions): Record<string, unknown> {
  if (options.workspace && options.gitUrl) throw new NightshiftError('INVALID_ARGUMENT', 'give either --workspace or --git-url');
  if (options.inPlace && options.copy) throw new NightshiftError('INVALID_ARGUMENT', 'give either --in-place or --copy');
  const toolPolicy = {
    ...(options.allowHost ? { allowedHosts: options.allowHost } : {}),
    ...(options.allowUnsandboxed ? { allowUnsandboxed: true } : {}),
  };
  return {
    goal,
    criteria: options.criteria ?? [],
    models: options.model,
    chain: options.chain,
    workspace: workspaceOf(options),
    maxOutputTokens: options.maxOutput,
    maxIterations: options.maxIterations,
    ...(Object.keys(toolPolicy).length > 0 ? { toolPolicy } : {}),
  };
}

function workspaceOf(options: TaskOptions): Record<string, string | undefined> | undefined {
  if (options.gitUrl) return { gitUrl: options.gitUrl, gitRef: options.gitRef };
  if (!options.workspace) return undefined;
  const directory = path.resolve(options.workspace);
  if (options.inPlace) return { directory, mode: 'in_place' };
  if (options.copy) return { directory, mode: 'copy' };
  // A directory that git does not know has no worktree; a copy leaves the original just as untouched.
  return { directory, mode: existsSync(path.join(directory, '.git')) ? 'worktree' : 'copy' };
}
