import { existsSync, writeFileSync } from 'node:fs';
import { NightshiftError } from '@nightshift/contracts';
import type { Api } from '../client/api';
import type { TaskEventJson, TaskJson } from '../client/shapes';
import { follow, hasEnded } from '../follow/follow';
import { faultsOf } from '../local/readiness';
import { serviceNames, type ServiceName } from '../local/layout';
import type { Stack } from '../local/stack';
import { EventLines } from '../show/event-line';
import { Screen, type Output } from '../show/screen';
import { statusLine } from '../show/status-line';
import { collect } from './collect';
import { Killer } from './disturbance';
import { criteria, goal } from './job';
import { MetricsKeeper } from './metrics-keeper';
import { missingFrom, type Report } from './report';
import { reportText } from './report-text';
import { copyRepository } from './repository-copy';
import type { RunFolder } from './run-folder';

export interface SampleOptions {
  api: Api;
  stack: Stack;
  run: RunFolder;
  projectRoot: string;
  kill: ServiceName;
  allowUnsandboxed: boolean;
  reportFile: string | undefined;
  output: Output;
  signal: AbortSignal;
}

/** Runs the sample task, or goes on with an interrupted one, shows it live and reports. True when everything happened. */
export async function runSample(options: SampleOptions): Promise<boolean> {
  const { api, stack, run, output, signal } = options;
  const screen = new Screen(output);
  const lines = new EventLines();
  const say = (line: string): void => screen.line(line);
  const notes = run.notes();
  if (!notes) throw new NightshiftError('INTERNAL', `${run.path} has no notes`);
  if (!existsSync(run.repository)) copyRepository(options.projectRoot, run.repository);

  const keeper = new MetricsKeeper(stack.operations(), run.metrics);
  const killer = new Killer(stack, keeper, options.kill, say);
  keeper.start();
  const id = await submit(options, notes.key, notes.models);
  run.note({ taskId: id });
  say(`sample task ${id} on a copy of this repository, models ${notes.models.join(' → ')}`);

  const events: TaskEventJson[] = [];
  const stuck = new AbortController();
  const watcher = {
    event: (event: TaskEventJson) => {
      events.push(event);
      const line = lines.of(event);
      if (line) say(line);
    },
    task: (task: TaskJson) => {
      screen.setStatus(statusLine(task));
      killer.onToolCalls(task.toolCalls);
      // Nobody is there to answer or to resume it.
      if (task.state === 'paused' || task.pending === 'user') stuck.abort();
    },
  };
  const task = await follow(api, id, watcher, AbortSignal.any([signal, stuck.signal]));
  screen.end();
  await keeper.finish();
  if (signal.aborted) return false;
  if (killer.killed) run.note({ killed: killer.killed });
  if (hasEnded(task)) run.note({ finished: true });

  const answering = await answeringServices(stack);
  const { report: figures, traces } = await collect(api, id, events, answering);
  const killed = killer.killed ?? run.notes()?.killed;
  const missing = missingFrom(figures, { killed, traces }, serviceNames);
  const report: Report = { ok: missing.length === 0, ...figures };
  if (options.reportFile !== undefined) writeFileSync(options.reportFile, `${JSON.stringify(report, null, 2)}\n`);
  const why = task.state !== 'completed' && task.reason ? [`The task is ${task.state}: ${task.reason}`] : [];
  output.write(reportText(report, missing, [...why, ...nextSteps(id, killed, traces)]));
  return report.ok;
}

async function submit({ api, run, allowUnsandboxed }: SampleOptions, key: string, models: readonly string[]): Promise<string> {
  const body = {
    goal,
    criteria,
    models,
    workspace: { directory: run.repository, mode: 'in_place' },
    ...(allowUnsandboxed ? { toolPolicy: { allowUnsandboxed: true } } : {}),
  };
  const task = await api.post<TaskJson>('/v1/tasks', body, { 'idempotency-key': key });
  return task.id;
}

async function answeringServices(stack: Stack): Promise<string[]> {
  const looked = await Promise.all(
    Object.entries(stack.operations()).map(async ([name, url]) => ({ name, faults: await faultsOf(url) })),
  );
  return looked.filter(({ faults }) => faults.length === 0).map(({ name }) => name);
}

function nextSteps(id: string, killed: string | undefined, traces: number): string[] {
  return [
    killed
      ? `${killed} was killed in the middle and restarted; traces in the ledger of tool calls: ${traces}`
      : 'no service was killed',
    '',
    'Where to look next',
    `  npx nightshift generations ${id}    every compaction, tier by tier, and what it kept and hid`,
    `  npx nightshift view ${id}           what the model is sent now`,
    `  npx nightshift calls ${id}          the ledger of tool calls`,
    `  npx nightshift diff ${id}           what it changed`,
    `  npx nightshift logs ${id} --full    the whole transcript; compaction removed nothing from it`,
  ];
}
