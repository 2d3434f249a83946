import { scaled } from './durations';
import { increase, metric } from './names';
import type { BurnWindow } from './recording-rules';

export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** How long the expression must hold before it fires, in seconds. */
  readonly holdSeconds: number;
  readonly severity: 'page' | 'ticket';
  readonly summary: string;
  readonly description: string;
  /** Part of docs/operations.md. */
  readonly runbook: string;
}

/** Objective: 95 % of judged compaction passes succeed over 30 days. */
const errorBudget = 0.05;
/** Below this many judged passes in the long window, a ratio says nothing. */
const minimumPasses = 5;

function burn(factor: number, long: BurnWindow, short: BurnWindow): string {
  const limit = Number((factor * errorBudget).toFixed(4));
  return [
    `nightshift:compaction_failures:ratio_rate${long} > ${limit}`,
    `nightshift:compaction_failures:ratio_rate${short} > ${limit}`,
    `nightshift:compaction_passes:increase${long} >= ${minimumPasses}`,
  ].join('\nand ');
}

function burnAlert(name: string, factor: number, long: BurnWindow, short: BurnWindow, severity: Alert['severity']): Alert {
  return {
    name,
    expr: burn(factor, long, short),
    holdSeconds: 0,
    severity,
    summary: `Compactions fail ${factor} times faster than the budget allows`,
    description: `Over ${long} and ${short}, failed, insufficient and summary-less passes burn the 5 % budget ${factor} times too fast: {{ $value | humanizePercentage }} of the passes.`,
    runbook: 'compaction-failures',
  };
}

/**
 * The one source of alerts: the Prometheus rules and the Grafana alert rules are rendered from it.
 * @param divisor see durations.ts
 */
export function alerts(divisor = 1): Alert[] {
  const window = (seconds: number) => scaled(seconds, divisor);
  return [
    burnAlert('CompactionFailureRatioFast', 14.4, '1h', '5m', 'page'),
    burnAlert('CompactionFailureRatio', 6, '6h', '30m', 'page'),
    burnAlert('CompactionFailureRatioSlow', 3, '1d', '2h', 'ticket'),
    burnAlert('CompactionFailureRatioTrend', 1, '3d', '6h', 'ticket'),
    {
      name: 'CompactionBreakerTripped',
      expr: `${increase('compaction_breaker_trips', window(900))} > 0`,
      holdSeconds: 0,
      severity: 'ticket',
      summary: 'A task gave up compacting for now',
      description: 'Three passes in a row did not reduce a task. It retries after 25 % growth; the next overflow forces a pass.',
      runbook: 'compaction-breaker',
    },
    {
      name: 'CompactionThresholdWithoutPass',
      expr: `${increase('compaction_threshold_hits', window(900))} > 0\nand ${increase('compaction_passes', window(900))} == 0`,
      holdSeconds: 600,
      severity: 'page',
      summary: 'Tasks cross the threshold and no compaction finishes',
      description: 'Tasks wait in compacting. Is a compactor running, and does the summary call get an answer?',
      runbook: 'no-finished-compaction',
    },
    {
      name: 'CompactionQueueOld',
      expr: `max (${metric('queue_oldest_seconds', { route: 'compactionRun' })}) > ${divisor === 1 ? 300 : Math.ceil(300 / divisor)}`,
      holdSeconds: 60,
      severity: 'page',
      summary: 'A compaction has waited for more than five minutes',
      description:
        'The oldest compaction is {{ $value | humanizeDuration }} old. More compactor workers shorten the queue; nothing else does.',
      runbook: 'compaction-queue',
    },
    {
      name: 'QueueWithoutConsumer',
      expr: `max by (route) (${metric('queue_pending')}) > 0\nand max by (route) (${metric('queue_waiting_pulls')} + ${metric('queue_in_flight')}) == 0`,
      holdSeconds: 120,
      severity: 'page',
      summary: 'Messages of {{ $labels.route }} wait and nobody takes them',
      description: 'No worker has pulled from this queue for two minutes. Start the service that owns it.',
      runbook: 'queue-without-consumer',
    },
    {
      name: 'ProviderBreakerTripped',
      expr: `${increase('provider_breaker_trips', window(900), { by: ['provider', 'model'] })} > 0`,
      holdSeconds: 0,
      severity: 'ticket',
      summary: 'Calls to {{ $labels.provider }}/{{ $labels.model }} are held back',
      description: 'The breaker opened after repeated failures; one probe at a time tests whether it is back.',
      runbook: 'provider-breaker',
    },
    {
      name: 'ProviderChainExhausted',
      expr: `${increase('provider_chain_exhausted', window(600))} > 0`,
      holdSeconds: 0,
      severity: 'page',
      summary: 'Every candidate of a chain failed',
      description:
        'Tasks wait for a provider. The attempt ledger names each failure; a longer chain or another credential helps.',
      runbook: 'provider-chain-exhausted',
    },
    {
      name: 'DeadLetters',
      expr: `max (${metric('dead_letters_waiting')}) > 0`,
      holdSeconds: 60,
      severity: 'ticket',
      summary: 'Messages were put away as dead letters',
      description: '{{ $value }} dead letters wait for a decision: inspect, then retry or discard.',
      runbook: 'dead-letters',
    },
    {
      name: 'DeliveriesExhausted',
      expr: `${increase('bus_advisories', window(900), { by: ['route'], where: { kind: 'max_deliveries' } })} > 0`,
      holdSeconds: 0,
      severity: 'ticket',
      summary: 'A message of {{ $labels.route }} brought its worker down every time',
      description: 'The NATS server has given up a message: no delivery of it was ever answered. It is now a dead letter.',
      runbook: 'deliveries-exhausted',
    },
    {
      name: 'MessageEndedUnstored',
      expr: `${increase('bus_advisories', window(900), { where: { kind: 'terminated' } })} > ${increase('bus_dead_letters', window(900))} + 0.5`,
      holdSeconds: 120,
      severity: 'page',
      summary: 'Messages were ended that are no dead letters',
      description: 'The NATS server counts more ended messages than were put away: somebody ends messages without keeping them.',
      runbook: 'message-ended-unstored',
    },
    {
      name: 'TaskStalled',
      expr: `max (${metric('tasks_stalled')}) > 0`,
      holdSeconds: 300,
      severity: 'page',
      summary: 'A task should be working and does not move',
      description: '{{ $value }} tasks have recorded no outcome for 15 minutes although they wait for nobody.',
      runbook: 'stalled-task',
    },
    {
      name: 'SpendAfterCancel',
      expr: `${increase('task_calls_after_cancel', window(900))} > 0`,
      holdSeconds: 0,
      severity: 'page',
      summary: 'A cancelled task called a model',
      description: 'A model call began after its task was cancelled. Its receipt names the gateway instance.',
      runbook: 'spend-after-cancel',
    },
    {
      name: 'RegistryStale',
      expr: `max (${metric('window_age_seconds')}) > 900`,
      holdSeconds: 300,
      severity: 'ticket',
      summary: 'Model windows are not being refreshed',
      description:
        'The oldest window of a reachable endpoint was read {{ $value | humanizeDuration }} ago. Tasks go on with the last known windows.',
      runbook: 'registry-stale',
    },
    {
      name: 'ServiceDown',
      expr: 'up{job=~"nightshift-.*"} == 0',
      holdSeconds: 120,
      severity: 'page',
      summary: '{{ $labels.job }} on {{ $labels.instance }} does not answer',
      description: 'Prometheus cannot scrape it. Its /health/ready says what it misses, when it answers at all.',
      runbook: 'service-down',
    },
    {
      name: 'ServiceAbsent',
      expr: requiredJobs.map((job) => `absent(up{job="${job}"})`).join('\nor '),
      holdSeconds: 300,
      severity: 'page',
      summary: 'No instance of {{ $labels.job }} is known',
      description: 'Discovery finds no target. The compactor may be scaled to zero and is not listed here.',
      runbook: 'service-down',
    },
  ];
}

/** Services of which one instance must exist at all times. */
export const requiredJobs = ['api', 'orchestrator', 'provider-gateway', 'model-registry', 'tool-result-store', 'tool-runner'].map(
  (name) => `nightshift-${name}`,
);
