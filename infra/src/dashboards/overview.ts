import { metric, quantile, rate } from '../names';
import { dashboard } from './dashboard';
import { graph, row, stat } from './panel';

const w = '$__rate_interval';

export const overview = () =>
  dashboard('nightshift-overview', 'Nightshift: overview', 'Is the platform doing its work?', [
    stat({ title: 'Running tasks', queries: { running: `max (${metric('task_states', { state: 'running' })})` } }),
    stat({ title: 'Compacting', queries: { compacting: `max (${metric('task_states', { state: 'compacting' })})` } }),
    stat({ title: 'Stalled tasks', limit: 1, queries: { stalled: `max (${metric('tasks_stalled')})` } }),
    stat({ title: 'Dead letters', limit: 1, queries: { waiting: `max (${metric('dead_letters_waiting')})` } }),
    stat({
      title: 'Compaction failure ratio, 1 h',
      unit: 'percentunit',
      limit: 0.05,
      queries: { ratio: 'nightshift:compaction_failures:ratio_rate1h' },
    }),
    stat({ title: 'Model calls in flight', queries: { calls: `sum (${metric('provider_in_flight')})` } }),
    row('Tasks'),
    graph({ title: 'Tasks by state', stack: true, queries: { '{{state}}': `max by (state) (${metric('task_states')})` } }),
    graph({
      title: 'Steps by what they did',
      unit: 'reqps',
      queries: { '{{action}}': rate('task_steps', w, { by: ['action'] }) },
    }),
    graph({
      title: 'Time the platform adds to a step',
      unit: 's',
      queries: { p50: quantile(0.5, 'task_step_duration_seconds', w), p99: quantile(0.99, 'task_step_duration_seconds', w) },
    }),
    graph({ title: 'Tool calls', unit: 'reqps', queries: { '{{outcome}}': rate('task_tool_calls', w, { by: ['outcome'] }) } }),
    row('Queues'),
    graph({
      title: 'Oldest message',
      unit: 's',
      limit: 300,
      queries: { '{{route}}': `max by (route) (${metric('queue_oldest_seconds')})` },
    }),
    graph({
      title: 'Pending and in flight',
      queries: {
        '{{route}} pending': `max by (route) (${metric('queue_pending')})`,
        '{{route}} in flight': `max by (route) (${metric('queue_in_flight')})`,
      },
    }),
    graph({ title: 'Redeliveries', unit: 'reqps', queries: { '{{route}}': rate('bus_redeliveries', w, { by: ['route'] }) } }),
    graph({
      title: 'Messages answered',
      unit: 'reqps',
      queries: { '{{outcome}}': rate('bus_deliveries', w, { by: ['outcome'] }) },
    }),
    row('Processes'),
    graph({
      title: 'Event loop delay, p99',
      unit: 's',
      queries: { '{{job}} {{instance}}': metric('event_loop_lag_seconds', { at: 'p99' }) },
    }),
    graph({ title: 'Resident memory', unit: 'bytes', queries: { '{{job}} {{instance}}': metric('resident_memory_bytes') } }),
    graph({
      title: 'Database connections waiting',
      queries: { '{{job}} {{instance}}': metric('db_pool_connections', { state: 'waiting' }) },
    }),
    graph({ title: 'HTTP requests', unit: 'reqps', queries: { '{{status}}': rate('http_requests', w, { by: ['status'] }) } }),
  ]);
