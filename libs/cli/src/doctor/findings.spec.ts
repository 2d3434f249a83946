import type { ModelsJson, ProvidersJson } from '../client/shapes';
import { findingsOf, type Facts, type Finding } from './findings';

const nowMs = 10_000_000;
const windowOf = (over: object = {}): ModelsJson['windows'][number] => ({
  window: {
    provider: 'sim',
    endpoint: '',
    model: 'small',
    window: 32_000,
    inputMax: 0,
    outputMax: 0,
    source: 'served',
    atMs: nowMs,
    unknown: false,
    trainedMax: 0,
    stale: false,
    notLoaded: false,
    warning: '',
    ...over,
  },
  sources: [],
  numCtx: 0,
});
const providerOf = (over: object = {}): ProvidersJson['providers'][number] => ({
  provider: 'sim',
  endpoint: '',
  format: 'anthropic',
  keyConfigured: true,
  inFlight: 0,
  limit: 0,
  breakers: [],
  models: [],
  ...over,
});
const queue = { stream: 'COMPACTION_RUN', consumer: 'compactor', pending: 0, inFlight: 0, waitingPulls: 1, oldestMs: 0 };
const nats = { version: '2.9.10', maxPayload: 8 * 1024 * 1024, faults: [] as string[], queues: [queue] };
const healthy: Facts = {
  nats: { value: nats },
  database: { value: { aheadMs: 12, runners: [{ id: 'r1', sandboxed: true, reason: '' }] } },
  models: { value: { windows: [windowOf()], endpoints: [] } },
  providers: { value: { providers: [providerOf()] } },
  deadLetters: { value: 0 },
  apiAheadMs: -400,
  nowMs,
  slots: 4,
};

const notOk = (facts: Facts): Finding[] => findingsOf(facts).findings.filter(({ state }) => state !== 'ok');

describe('findingsOf', () => {
  it('finds nothing wrong with a healthy system, and says what it looked at', () => {
    expect(findingsOf(healthy).findings.map(({ check, state }) => `${check} ${state}`)).toEqual([
      ...['nats ok', 'queues ok', 'dead letters ok', 'database ok', 'sandbox ok', 'providers ok'],
      ...['clocks ok', 'clocks ok', 'windows ok', 'scaling ok'],
    ]);
  });

  const cases: [string, Partial<Facts>, Finding[]][] = [
    [
      'fails without a server, and says nothing about its queues',
      { nats: { fault: 'UNAVAILABLE: no server' } },
      [{ check: 'nats', state: 'fail', text: 'UNAVAILABLE: no server' }],
    ],
    [
      'warns of small messages, and fails on a missing stream',
      {
        nats: {
          value: {
            ...nats,
            faults: ['max_payload: expected 8388608, found 1048576', 'TASK_STEP: expected this stream, found none'],
          },
        },
      },
      [
        { check: 'nats', state: 'warn', text: 'max_payload: expected 8388608, found 1048576' },
        { check: 'nats', state: 'fail', text: 'TASK_STEP: expected this stream, found none' },
      ],
    ],
    [
      'fails on a queue that nobody works on',
      {
        nats: {
          value: { ...nats, queues: [{ ...queue, stream: 'TASK_STEP', consumer: 'orchestrator', pending: 3, waitingPulls: 0 }] },
        },
      },
      [{ check: 'queues', state: 'fail', text: 'TASK_STEP: 3 messages wait and nobody pulls; start the orchestrator' }],
    ],
    [
      'fails on missing migrations without blaming the runner as well',
      { database: { value: { fault: 'database lacks migrations 1', aheadMs: 0, runners: [] } } },
      [{ check: 'database', state: 'fail', text: 'database lacks migrations 1' }],
    ],
    [
      'fails without a runner',
      { database: { value: { aheadMs: 0, runners: [] } } },
      [{ check: 'sandbox', state: 'fail', text: 'no tool runner has announced itself in the last minute' }],
    ],
    [
      'warns of a runner without sandbox, in its own words',
      { database: { value: { aheadMs: 0, runners: [{ id: 'r1', sandboxed: false, reason: 'bwrap is not installed' }] } } },
      [{ check: 'sandbox', state: 'warn', text: 'runner r1: no sandbox (bwrap is not installed)' }],
    ],
    [
      'fails on clocks that differ by more than two seconds',
      { apiAheadMs: 3_100 },
      [{ check: 'clocks', state: 'fail', text: 'api: 3.1 s ahead of this machine; run a time service' }],
    ],
    [
      'warns of providers without a key and of open breakers',
      {
        providers: {
          value: {
            providers: [
              providerOf({
                keyConfigured: false,
                breakers: [{ model: 'small', state: 'open', failures: 5, openUntilMs: 0, reason: 'overloaded', trips: 1 }],
              }),
            ],
          },
        },
      },
      [
        { check: 'providers', state: 'warn', text: 'sim: no key' },
        { check: 'providers', state: 'warn', text: 'sim/small: breaker open (overloaded)' },
      ],
    ],
    [
      'warns of unknown and stale windows and of endpoints that fell silent',
      {
        models: {
          value: {
            windows: [windowOf({ unknown: true }), windowOf({ stale: true, atMs: nowMs - 60_000 })],
            endpoints: [
              {
                provider: 'sim',
                endpoint: 'http://x',
                state: 'down',
                reason: 'refused',
                lastOkMs: nowMs - 1_200_000,
                serverVersion: '',
              },
            ],
          },
        },
      },
      [
        { check: 'windows', state: 'warn', text: 'sim/small: window unknown, 32 000 assumed; nightshift models override' },
        { check: 'windows', state: 'warn', text: 'sim/small: last read 60 s ago, still in use' },
        { check: 'windows', state: 'warn', text: 'sim at http://x: no answer for 20 min (refused)' },
      ],
    ],
    [
      'warns of dead letters that wait for a person',
      { deadLetters: { value: 2 } },
      [{ check: 'dead letters', state: 'warn', text: '2 wait for a decision: nightshift dead-letters' }],
    ],
  ];
  it.each(cases)('%s', (_title, over, expected) => {
    expect(notOk({ ...healthy, ...over })).toEqual(expected);
  });
});
