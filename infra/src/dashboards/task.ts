import { metric, quantile, rate } from '../names';
import { dashboard } from './dashboard';
import { graph, row, stat } from './panel';

const w = '$__rate_interval';

/** One task is looked at through its events; metrics carry no task ids. This board shows what such a task runs on. */
export const task = () =>
  dashboard(
    'nightshift-task',
    'Nightshift: one task',
    'Metrics carry no task ids (unbounded labels). Open a task with the command line (`nightshift watch ID`) or the trace with its id; this board shows the platform over the same time.',
    [
      stat({ title: 'Task age at end, median', unit: 's', queries: { age: quantile(0.5, 'task_duration_seconds', '$__range') } }),
      stat({
        title: 'Cancels without full receipt',
        limit: 1,
        queries: { incomplete: `sum (increase(${metric('task_cancels', { receipt: 'incomplete' })}[$__range]))` },
      }),
      stat({
        title: 'Calls after cancel',
        limit: 1,
        queries: { calls: `sum (increase(${metric('task_calls_after_cancel')}[$__range]))` },
      }),
      stat({ title: 'Leases lost', queries: { lost: `sum (increase(${metric('task_lease_lost')}[$__range]))` } }),
      row('Its steps'),
      graph({
        title: 'Time added per step',
        unit: 's',
        queries: { p50: quantile(0.5, 'task_step_duration_seconds', w), p99: quantile(0.99, 'task_step_duration_seconds', w) },
      }),
      graph({
        title: 'Fenced commands and swept wake-ups',
        queries: { fenced: rate('task_fenced', w), swept: rate('task_wakeups_swept', w) },
      }),
      row('Its tools'),
      graph({
        title: 'Tool duration, p95',
        unit: 's',
        queries: { '{{tool}}': quantile(0.95, 'tool_run_duration_seconds', w, ['tool']) },
      }),
      graph({
        title: 'Tool runs',
        unit: 'reqps',
        queries: { '{{tool}} {{outcome}}': rate('tool_runs', w, { by: ['tool', 'outcome'] }) },
      }),
    ],
    [{ name: 'task', label: 'Task id (for links)', text: '' }],
  );
