/**
 * Every metric of the system, in one place. Dashboards, alert rules and chart values are checked against this table.
 *
 * The name on the wire is `nightshift_<key>`, with `_total` behind counters; names of the GenAI conventions stand as they are. A label is either bounded here (all its values are
 * listed and start at zero, so that `rate()` sees the first increment) or `open`: bounded by configuration (providers, models,
 * teams), and capped at run time. No task ids, no user ids.
 */
export const open = [] as unknown as readonly string[] & { readonly open: true };

export type LabelTable = Readonly<Record<string, readonly string[]>>;
type NoLabels = Record<never, readonly string[]>;
export interface CounterRow {
  readonly type: 'counter';
  readonly help: string;
  readonly labels: LabelTable;
}
export interface GaugeRow {
  readonly type: 'gauge';
  readonly help: string;
  readonly labels: LabelTable;
}
export interface HistogramRow {
  readonly type: 'histogram';
  readonly help: string;
  readonly labels: LabelTable;
  /** Upper edges; the objective of the metric is one of them. */
  readonly buckets: readonly number[];
}
type Labelled<R, L> = Omit<R, 'labels'> & { readonly labels: L };
export type MetricRow = CounterRow | GaugeRow | HistogramRow;

const noLabels: NoLabels = {};

function counter(help: string): Labelled<CounterRow, NoLabels>;
function counter<const L extends LabelTable>(help: string, labels: L): Labelled<CounterRow, L>;
function counter(help: string, labels: LabelTable = noLabels): CounterRow {
  return { type: 'counter', help, labels };
}
function gauge(help: string): Labelled<GaugeRow, NoLabels>;
function gauge<const L extends LabelTable>(help: string, labels: L): Labelled<GaugeRow, L>;
function gauge(help: string, labels: LabelTable = noLabels): GaugeRow {
  return { type: 'gauge', help, labels };
}
function histogram(help: string, buckets: readonly number[]): Labelled<HistogramRow, NoLabels>;
function histogram<const L extends LabelTable>(help: string, buckets: readonly number[], labels: L): Labelled<HistogramRow, L>;
function histogram(help: string, buckets: readonly number[], labels: LabelTable = noLabels): HistogramRow {
  return { type: 'histogram', help, buckets, labels };
}

/** Seconds. Objective of a request inside the platform: 50 ms. */
const fast = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Seconds. A compaction pass shall end within 60 s, a model call within 120 s. */
const slow = [0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 900];
/** Seconds, up to a night. */
const long = [10, 30, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200];
/** Tokens. */
const tokenEdges = [1000, 4000, 8000, 16_000, 32_000, 64_000, 100_000, 200_000, 500_000, 1_000_000];
/** The edges that the GenAI conventions prescribe: 10 ms doubling to 82 s, and powers of four. */
const genAiSeconds = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const genAiTokens = Array.from({ length: 14 }, (_, power) => 4 ** power);
const tiers = ['summary', 'micro', 'images', 'on_device', 'prune'] as const;
const windowSources = ['operator', 'team', 'served', 'list', 'catalogue', 'family', 'learned', 'unknown'] as const;

export const metricTable = {
  // compaction: counted by the orchestrator at commit, so that the figures outlive short-lived workers
  compaction_threshold_hits: counter('Crossings of the compaction threshold, one per crossing.', {
    reason: ['threshold', 'overflow', 'model_switch', 'manual', 'silent_truncation', 'output_room'],
  }),
  compaction_passes: counter('Closed compaction passes by outcome and by whether their summary failed.', {
    outcome: ['reduced', 'degraded', 'insufficient', 'failed', 'no_longer_due', 'conflict', 'cancelled'],
    summary: ['ok', 'failed'],
  }),
  compaction_tier_runs: counter('Runs of one tier inside compaction passes by outcome.', {
    tier: tiers,
    outcome: ['applied', 'skipped', 'failed', 'rejected'],
  }),
  compaction_duration_seconds: histogram('Time from the queueing of a pass to its commit.', slow),
  compaction_tokens_before: histogram('Tokens of a view before a committed pass.', tokenEdges),
  compaction_tokens_after: histogram('Tokens of a view after a committed pass.', tokenEdges),
  compaction_tokens_saved: counter('Tokens before minus after, summed over committed passes.'),
  compaction_results_dropped: counter('Results of passes that were closed meanwhile (commit conflicts).'),
  compaction_rapid_refills: counter('Three automatic passes within three model calls.'),
  compaction_irreducible: counter('Tasks whose smallest legal view does not fit the window.'),
  compaction_prefix_breaks: counter('Passes that broke a provider prompt cache before their commit.'),
  compaction_breaker_trips: counter('Trips of a task compaction breaker.'),
  compaction_breaker_open_tasks: gauge('Tasks whose compaction breaker is open.'),
  compaction_running: gauge('Compaction passes running in this process.'),
  compaction_undos: counter('Compaction passes undone.'),

  // providers
  provider_attempts: counter('Calls to a provider by outcome.', {
    provider: open,
    model: open,
    outcome: ['ok', 'error', 'aborted', 'overflow', 'output_cap', 'rate_limited', 'overloaded', 'timeout', 'truncated', 'auth'],
  }),
  provider_attempt_duration_seconds: histogram('Duration of one call to a provider.', slow, { provider: open }),
  provider_first_content_seconds: histogram('Time to the first content of a call.', slow, { provider: open }),
  provider_fallbacks: counter('Moves to the next candidate of a chain by reason.', {
    reason: [
      'rate_limited',
      'overloaded',
      'server',
      'timeout',
      'network',
      'truncated',
      'quota',
      'auth',
      'breaker',
      'not_found',
      'busy',
      'request_ceiling',
      'invalid_request',
      'unknown',
    ],
  }),
  provider_chain_exhausted: counter('Model calls for which every candidate failed.'),
  provider_breaker_trips: counter('Trips of a provider breaker.', { provider: open, model: open }),
  provider_breaker_state: gauge('State of a provider breaker: 0 closed, 1 half open, 2 open.', { provider: open, model: open }),
  provider_overflows: counter('Context overflow errors of providers.', { provider: open }),
  provider_output_caps: counter('Output cap errors of providers.', { provider: open }),
  provider_silent_truncations: counter('Answers whose reported input is smaller than what was sent.', { provider: open }),
  provider_tokens: counter('Tokens as billed by providers.', {
    provider: open,
    model: open,
    kind: ['input', 'cache_read', 'cache_write', 'output', 'reasoning'],
  }),
  provider_in_flight: gauge('Model calls in flight in this process.'),
  provider_calls_joined: counter('Repeated model calls that joined or replayed a call already paid for.', {
    how: ['joined', 'replayed'],
  }),

  // the client metrics of the OpenTelemetry GenAI conventions, under their own names
  gen_ai_client_operation_duration_seconds: histogram('GenAI operation duration.', genAiSeconds, {
    gen_ai_operation_name: open,
    gen_ai_provider_name: open,
    gen_ai_request_model: open,
    error_type: open,
  }),
  gen_ai_client_token_usage: histogram('Number of input and output tokens used.', genAiTokens, {
    gen_ai_operation_name: open,
    gen_ai_provider_name: open,
    gen_ai_request_model: open,
    gen_ai_token_type: open,
  }),

  // windows
  window_learned: counter('Windows learned from overflow errors.', { provider: open }),
  window_source: gauge('Known model windows by the source that decides.', { source: windowSources }),
  window_changes: counter('Changes of a resolved window.'),
  window_polls: counter('Polls of a provider endpoint by outcome.', { outcome: ['ok', 'unreachable', 'error'] }),
  window_age_seconds: gauge('Age of the oldest polled window of a reachable endpoint.'),
  window_unknown_models: gauge('Models in use whose window is not known.'),

  // tasks
  task_states: gauge('Tasks by state.', {
    state: ['running', 'compacting', 'waiting', 'paused', 'cancelling', 'completed', 'failed', 'cancelled'],
  }),
  tasks_stalled: gauge('Tasks that should be working and have recorded no outcome for 15 minutes.'),
  task_steps: counter('Steps by what they did.', {
    action: ['complete', 'tools', 'compact', 'wait', 'finish', 'cancel', 'none'],
  }),
  task_step_duration_seconds: histogram('Time the platform itself spends on one step, model and tools excluded.', fast),
  task_duration_seconds: histogram('Age of tasks at their end.', long),
  task_wakeups_swept: counter('Overdue wake-ups published by the sweeper.'),
  task_fenced: counter('Commands dropped since their epoch or lease was gone.'),
  task_lease_lost: counter('Leases lost while working.'),
  task_cancels: counter('Cancelled tasks by whether every party confirmed in time.', { receipt: ['complete', 'incomplete'] }),
  task_calls_after_cancel: counter('Model calls started after their task was cancelled.'),
  task_tool_calls: counter('Tool calls by how they ended.', {
    outcome: ['finished', 'failed', 'unknown', 'cancelled'],
  }),
  team_tokens: counter('Tokens billed per team.', { team: open, kind: ['input', 'output'] }),

  // tools and results
  tool_runs: counter('Tool calls of this runner by outcome.', {
    tool: open,
    outcome: ['ok', 'error', 'timeout', 'killed', 'replayed', 'attached', 'unknown'],
  }),
  tool_run_duration_seconds: histogram('Duration of a tool call on the runner.', slow, { tool: open }),
  tool_running: gauge('Tool calls running in this process.'),
  toolresult_restored: counter('Restored tool results by outcome.', { outcome: ['ok', 'not_found', 'mismatch'] }),
  toolresult_puts: counter('Stored tool results.', { outcome: ['stored', 'deduplicated'] }),
  toolresult_bytes: gauge('Bytes of the blobs in the store, compressed.'),
  toolresult_collected: counter('Blobs removed by collection.'),

  // the bus
  bus_requests: counter('Requests handled by outcome.', {
    route: open,
    outcome: ['ok', 'error', 'busy', 'expired', 'cancelled'],
  }),
  bus_request_duration_seconds: histogram('Time in the handler of a request.', fast, { route: open }),
  bus_deliveries: counter('Deliveries of commands and events by what was answered to the server.', {
    route: open,
    outcome: ['ack', 'fenced', 'nak', 'nak_uncounted', 'held', 'dead_letter', 'drained'],
  }),
  bus_redeliveries: counter('Deliveries that were not the first of their message.', { route: open }),
  bus_dead_letters: counter('Messages put away as dead letters.', { route: open }),
  bus_advisories: counter('What the NATS server itself said about messages: past their last delivery, or ended by us.', {
    route: open,
    kind: ['max_deliveries', 'terminated'],
  }),
  bus_handler_duration_seconds: histogram('Time in the handler of a command or event.', slow, { route: open }),
  bus_consume_loops_rebuilt: counter('Consume loops that ended and were built again.', { route: open }),
  bus_handlers_running: gauge('Handlers running in this process.', { route: open }),
  bus_reconnects: counter('Reconnections to NATS.'),
  bus_connected: gauge('1 while connected to NATS.'),
  bus_claim_checks: counter('Bodies that travelled through the object store.', { direction: ['request', 'reply'] }),
  queue_pending: gauge('Messages of a queue not yet delivered.', { route: open }),
  queue_in_flight: gauge('Messages of a queue delivered and not yet acknowledged.', { route: open }),
  queue_oldest_seconds: gauge('Age of the oldest message of a queue.', { route: open }),
  queue_waiting_pulls: gauge('Pull requests of workers that wait for a message of a queue: 0 means nobody works on it.', {
    route: open,
  }),
  dead_letters_waiting: gauge('Dead letters waiting for a decision.'),

  // http
  http_requests: counter('HTTP requests by route and class of status.', { route: open, status: ['2xx', '3xx', '4xx', '5xx'] }),
  http_request_duration_seconds: histogram('Duration of HTTP requests, streams excluded.', fast, { route: open }),
  sse_streams: gauge('Open event streams.'),

  // database
  db_pool_connections: gauge('Connections of the pool.', { state: ['total', 'idle', 'waiting'] }),
  db_query_duration_seconds: histogram('Duration of a statement.', fast),
  db_acquire_timeouts: counter('Failures to get a connection in time.'),

  // the process
  event_loop_lag_seconds: gauge('Delay of the event loop since the last scrape.', { at: ['p50', 'p99', 'max'] }),
  heap_used_bytes: gauge('Used heap of the process.'),
  resident_memory_bytes: gauge('Resident memory of the process.'),
  cpu_seconds: counter('Processor time used by the process.'),
  build_info: gauge('1, labelled with what runs.', { service: open, version: open, instance: open }),
} as const satisfies Record<string, MetricRow>;

export type MetricTable = typeof metricTable;
export type MetricName = keyof MetricTable;
export type NamesOf<T extends MetricRow['type']> = {
  [K in MetricName]: MetricTable[K]['type'] extends T ? K : never;
}[MetricName];

type ValueOf<V extends readonly string[]> = V extends { readonly open: true } ? string : V[number];
export type LabelsOf<K extends MetricName> = {
  [L in keyof MetricTable[K]['labels']]: MetricTable[K]['labels'][L] extends readonly string[]
    ? ValueOf<MetricTable[K]['labels'][L]>
    : never;
};
