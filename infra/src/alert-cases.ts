import { requiredJobs } from './alerts';

export interface Series {
  readonly series: string;
  /** promtool's notation: `0+1x60` is 61 samples, one a minute. */
  readonly values: string;
}

export interface AlertCase {
  readonly alert: string;
  readonly what: string;
  readonly series: readonly Series[];
  /** Minutes after the first sample. */
  readonly at: number;
  /** Every alert that fires then, and no other. */
  readonly firing: readonly string[];
}

const passes = (outcome: string, values: string, summary = 'ok'): Series => ({
  series: `nightshift_compaction_passes_total{outcome="${outcome}",summary="${summary}"}`,
  values,
});
const one = (series: string, values: string): readonly Series[] => [{ series, values }];

/** A firing and a quiet case for each alert; `up` of every required job is added unless a case gives its own. */
export const alertCases: readonly AlertCase[] = [
  {
    alert: 'CompactionFailureRatioFast',
    what: 'nine passes of ten fail for an hour',
    series: [passes('reduced', '0+1x120'), passes('failed', '0+9x120')],
    at: 90,
    firing: ['CompactionFailureRatio', 'CompactionFailureRatioFast', 'CompactionFailureRatioSlow', 'CompactionFailureRatioTrend'],
  },
  {
    alert: 'CompactionFailureRatioFast',
    what: 'passes that land after a failed summary count as failures',
    series: [passes('reduced', '0+1x120'), passes('degraded', '0+9x120', 'failed')],
    at: 90,
    firing: ['CompactionFailureRatio', 'CompactionFailureRatioFast', 'CompactionFailureRatioSlow', 'CompactionFailureRatioTrend'],
  },
  {
    alert: 'CompactionFailureRatioFast',
    what: 'degraded by prune alone is not a failure',
    series: [passes('degraded', '0+9x120')],
    at: 90,
    firing: [],
  },
  {
    alert: 'CompactionFailureRatioFast',
    what: 'conflicts and cancels are not judged',
    series: [passes('reduced', '0+1x120'), passes('conflict', '0+9x120'), passes('cancelled', '0+9x120')],
    at: 90,
    firing: [],
  },
  {
    alert: 'CompactionFailureRatioFast',
    what: 'four failures are too little traffic',
    series: [passes('reduced', '0x120'), passes('failed', '0x20 1 2 3 4x90')],
    at: 60,
    firing: [],
  },
  {
    alert: 'CompactionFailureRatioFast',
    what: 'it is quiet again once the short window is clean',
    series: [passes('reduced', '0+1x60 61+10x60'), passes('failed', '0+9x30 270x90')],
    at: 75,
    firing: ['CompactionFailureRatioSlow', 'CompactionFailureRatioTrend'],
  },
  {
    alert: 'CompactionFailureRatio',
    what: 'four passes of ten fail for six hours',
    series: [passes('reduced', '0+6x600'), passes('failed', '0+4x600')],
    at: 420,
    firing: ['CompactionFailureRatio', 'CompactionFailureRatioSlow', 'CompactionFailureRatioTrend'],
  },
  {
    alert: 'CompactionFailureRatio',
    what: 'one pass of fifty fails',
    series: [passes('reduced', '0+49x600'), passes('failed', '0+1x600')],
    at: 420,
    firing: [],
  },
  {
    alert: 'CompactionFailureRatioSlow',
    what: 'a fifth of the passes fails for a day',
    series: [passes('reduced', '0+8x1600'), passes('insufficient', '0+2x1600')],
    at: 1500,
    firing: ['CompactionFailureRatioSlow', 'CompactionFailureRatioTrend'],
  },
  {
    alert: 'CompactionFailureRatioTrend',
    what: 'a tenth of the passes fails for three days',
    series: [passes('reduced', '0+9x4400'), passes('failed', '0+1x4400')],
    at: 4380,
    firing: ['CompactionFailureRatioTrend'],
  },
  {
    alert: 'CompactionBreakerTripped',
    what: 'a breaker trips',
    series: one('nightshift_compaction_breaker_trips_total', '0x5 1x60'),
    at: 10,
    firing: ['CompactionBreakerTripped'],
  },
  {
    alert: 'CompactionBreakerTripped',
    what: 'a trip is old',
    series: one('nightshift_compaction_breaker_trips_total', '0x5 1x60'),
    at: 40,
    firing: [],
  },
  {
    alert: 'CompactionThresholdWithoutPass',
    what: 'hits and no pass',
    series: [
      { series: 'nightshift_compaction_threshold_hits_total{reason="threshold"}', values: '0+1x60' },
      passes('reduced', '5x60'),
    ],
    at: 30,
    firing: ['CompactionThresholdWithoutPass'],
  },
  {
    alert: 'CompactionThresholdWithoutPass',
    what: 'hits and passes',
    series: [
      { series: 'nightshift_compaction_threshold_hits_total{reason="threshold"}', values: '0+1x60' },
      passes('reduced', '0+1x60'),
    ],
    at: 30,
    firing: [],
  },
  {
    alert: 'CompactionQueueOld',
    what: 'the oldest compaction waits for six minutes',
    series: one('nightshift_queue_oldest_seconds{route="compactionRun"}', '360x10'),
    at: 5,
    firing: ['CompactionQueueOld'],
  },
  {
    alert: 'CompactionQueueOld',
    what: 'another queue is old',
    series: one('nightshift_queue_oldest_seconds{route="taskStep"}', '360x10'),
    at: 5,
    firing: [],
  },
  {
    alert: 'QueueWithoutConsumer',
    what: 'messages wait, nobody pulls',
    series: [
      ...one('nightshift_queue_pending{route="compactionRun"}', '3x10'),
      ...one('nightshift_queue_waiting_pulls{route="compactionRun"}', '0x10'),
      ...one('nightshift_queue_in_flight{route="compactionRun"}', '0x10'),
    ],
    at: 5,
    firing: ['QueueWithoutConsumer'],
  },
  {
    alert: 'QueueWithoutConsumer',
    what: 'messages wait and every worker is busy',
    series: [
      ...one('nightshift_queue_pending{route="compactionRun"}', '3x10'),
      ...one('nightshift_queue_waiting_pulls{route="compactionRun"}', '0x10'),
      ...one('nightshift_queue_in_flight{route="compactionRun"}', '1x10'),
    ],
    at: 5,
    firing: [],
  },
  {
    alert: 'ProviderBreakerTripped',
    what: 'a breaker trips',
    series: one('nightshift_provider_breaker_trips_total{provider="p",model="m"}', '0x5 1x60'),
    at: 10,
    firing: ['ProviderBreakerTripped'],
  },
  {
    alert: 'ProviderBreakerTripped',
    what: 'none trips',
    series: one('nightshift_provider_breaker_trips_total{provider="p",model="m"}', '1x60'),
    at: 10,
    firing: [],
  },
  {
    alert: 'ProviderChainExhausted',
    what: 'a chain is exhausted',
    series: one('nightshift_provider_chain_exhausted_total', '0x5 1x60'),
    at: 10,
    firing: ['ProviderChainExhausted'],
  },
  {
    alert: 'ProviderChainExhausted',
    what: 'none is',
    series: one('nightshift_provider_chain_exhausted_total', '1x60'),
    at: 10,
    firing: [],
  },
  {
    alert: 'DeadLetters',
    what: 'one waits',
    series: one('nightshift_dead_letters_waiting', '1x10'),
    at: 5,
    firing: ['DeadLetters'],
  },
  {
    alert: 'DeadLetters',
    what: 'all are settled',
    series: one('nightshift_dead_letters_waiting', '1 1 0x10'),
    at: 5,
    firing: [],
  },
  {
    alert: 'DeliveriesExhausted',
    what: 'the server gives a message up',
    series: one('nightshift_bus_advisories_total{route="toolRun",kind="max_deliveries"}', '0x5 1x60'),
    at: 10,
    firing: ['DeliveriesExhausted'],
  },
  {
    alert: 'DeliveriesExhausted',
    what: 'messages are ended as dead letters in the usual way',
    series: [
      ...one('nightshift_bus_advisories_total{route="toolRun",kind="terminated"}', '0x5 1x60'),
      ...one('nightshift_bus_dead_letters_total{route="toolRun"}', '0x5 1x60'),
    ],
    at: 10,
    firing: [],
  },
  {
    alert: 'MessageEndedUnstored',
    what: 'two messages are ended and one is put away',
    series: [
      ...one('nightshift_bus_advisories_total{route="toolRun",kind="terminated"}', '0x5 2x60'),
      ...one('nightshift_bus_dead_letters_total{route="toolRun"}', '0x5 1x60'),
    ],
    at: 10,
    firing: ['MessageEndedUnstored'],
  },
  {
    alert: 'MessageEndedUnstored',
    what: 'every ended message is put away',
    series: [
      ...one('nightshift_bus_advisories_total{route="toolRun",kind="terminated"}', '0x5 2x60'),
      ...one('nightshift_bus_dead_letters_total{route="toolRun"}', '0x5 2x60'),
    ],
    at: 10,
    firing: [],
  },
  {
    alert: 'TaskStalled',
    what: 'a task stands still',
    series: one('nightshift_tasks_stalled', '1x20'),
    at: 10,
    firing: ['TaskStalled'],
  },
  {
    alert: 'TaskStalled',
    what: 'it moves again before the hold ends',
    series: one('nightshift_tasks_stalled', '1 1 1 0x20'),
    at: 10,
    firing: [],
  },
  {
    alert: 'SpendAfterCancel',
    what: 'a call began after a cancel',
    series: one('nightshift_task_calls_after_cancel_total', '0x5 1x60'),
    at: 10,
    firing: ['SpendAfterCancel'],
  },
  {
    alert: 'SpendAfterCancel',
    what: 'none began',
    series: one('nightshift_task_calls_after_cancel_total', '0x60'),
    at: 10,
    firing: [],
  },
  {
    alert: 'RegistryStale',
    what: 'windows are twenty minutes old',
    series: one('nightshift_window_age_seconds', '1200x20'),
    at: 10,
    firing: ['RegistryStale'],
  },
  {
    alert: 'RegistryStale',
    what: 'windows are a minute old',
    series: one('nightshift_window_age_seconds', '60x20'),
    at: 10,
    firing: [],
  },
  {
    alert: 'ServiceDown',
    what: 'one compactor does not answer',
    series: one('up{job="nightshift-compactor",instance="c:1"}', '0x20'),
    at: 10,
    firing: ['ServiceDown'],
  },
  {
    alert: 'ServiceDown',
    what: 'a foreign job does not answer',
    series: one('up{job="other",instance="o:1"}', '0x20'),
    at: 10,
    firing: [],
  },
  {
    alert: 'ServiceAbsent',
    what: 'no orchestrator is known',
    series: upOf(requiredJobs.filter((job) => job !== 'nightshift-orchestrator')),
    at: 10,
    firing: ['ServiceAbsent'],
  },
  { alert: 'ServiceAbsent', what: 'a compactor scaled to zero is fine', series: [], at: 10, firing: [] },
];

export function upOf(jobs: readonly string[]): Series[] {
  return jobs.map((job) => ({ series: `up{job="${job}",instance="i:1"}`, values: '1x5000' }));
}
