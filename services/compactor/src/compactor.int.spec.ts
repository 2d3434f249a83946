import { toBinary, fromBinary } from '@bufbuild/protobuf';
import { Module } from '@nestjs/common';
import { startService } from '@nightshift/bus';
import type { RunningService } from '@nightshift/bus';
import { checkers, renderView, summarySections } from '@nightshift/compaction';
import { loadConfig } from '@nightshift/config';
import { compaction, NightshiftError, routes, transcript } from '@nightshift/contracts';
import {
  assistantEntry,
  eventually,
  numbered,
  startServiceModule,
  toolResultEntry,
  userEntry,
  withNats,
} from '@nightshift/testing';
import { seededKey, windowBucket, windowKey } from '@nightshift/windows';
import { create } from '@bufbuild/protobuf';
import { settings } from './config';
import { compactorOptions } from './options';
import { hangs, says, ScriptedGateway } from './scripted/scripted-gateway';
import { ScriptedOrchestrator } from './scripted/scripted-orchestrator';
import { ScriptedStore } from './scripted/scripted-store';

const { PassOutcome, PassReason } = compaction;
const team = 'team-a';

@Module({ controllers: [ScriptedOrchestrator] })
class OrchestratorModule {}
@Module({ controllers: [ScriptedGateway] })
class GatewayModule {}
@Module({ controllers: [ScriptedStore] })
class StoreModule {}

const others: RunningService[] = [];
let orchestrator: RunningService;
let worker: RunningService;
// Before the server below: hooks run in the order they stand in.
afterAll(async () => {
  await worker.stop();
  await Promise.all(others.map((service) => service.stop()));
});
const nats = withNats();

async function startWorker(instance: string, env: Record<string, string> = {}): Promise<RunningService> {
  const config = loadConfig(settings, {
    NATS_URL: nats.url,
    LOG_LEVEL: 'silent',
    METRICS_PORT: '0',
    ACK_WAIT_MS: '5000',
    SHUTDOWN_GRACE_MS: '300',
    INSTANCE_ID: instance,
    ...env,
  });
  const service = await startService(compactorOptions(config));
  await eventually(async () => (await fetch(`${service.operations.url}/health/ready`)).status === 200);
  return service;
}

beforeAll(async () => {
  const partial = { natsUrl: nats.url, partial: true } as const;
  orchestrator = await startServiceModule({ service: 'orchestrator', module: OrchestratorModule, ...partial });
  others.push(
    orchestrator,
    await startServiceModule({ service: 'provider-gateway', module: GatewayModule, ...partial }),
    await startServiceModule({ service: 'tool-result-store', module: StoreModule, ...partial }),
  );
  const bucket = await orchestrator.bus.kv(windowBucket);
  for (const [model, window] of [
    ['primary', 32_768],
    ['large', 1_000_000],
  ] as const) {
    const name = { provider: 'sim', endpoint: '', model };
    const value = create(compaction.ModelWindowSchema, { ...name, window, source: 'served' });
    await bucket.put(windowKey(name), toBinary(compaction.ModelWindowSchema, value));
  }
  await bucket.put(seededKey, '1');
  worker = await startWorker('worker-1');
});

/** A goal and some rounds, each with a result of about 4 000 characters: 24 of them are about 24 000 tokens. */
function transcriptOf(rounds: number): transcript.Entry[] {
  const entries = [userEntry('Make the build green.')];
  for (let i = 1; i <= rounds; i++) {
    entries.push(
      assistantEntry({ text: `step ${i}`, calls: [{ id: `call-${i}`, name: 'read_file', args: { path: `src/${i}.ts` } }] }),
      toolResultEntry({ callId: `call-${i}`, tool: 'read_file', text: `line ${i} of the file. `.repeat(200) }),
    );
  }
  return numbered(entries);
}

const summary = summarySections.map(({ number, title }) => `## ${number}. ${title}\nAs told.`).join('\n');
const entries = transcriptOf(24);
let lastPass = 0;

const jobOf = (over: object = {}): Parameters<typeof ScriptedOrchestrator.reset>[0] => ({
  reason: PassReason.THRESHOLD,
  generation: 0,
  lastSeq: entries.length,
  system: 'Rules: be careful.',
  tools: [],
  targetProvider: 'sim',
  targetModel: 'primary',
  measured: 25_000,
  goalAndPlan: [{ kind: 'goal', label: '', text: 'Make the build green.' }],
  chain: ['sim/primary'],
  rootId: 'root-1',
  epoch: 3,
  ...over,
});

async function queue(): Promise<string> {
  const passId = `pass-${++lastPass}`;
  const run = {
    taskId: 'task-1',
    passId,
    generation: 0,
    reason: PassReason.THRESHOLD,
    targetProvider: 'sim',
    targetModel: 'primary',
  };
  await orchestrator.bus.command(routes.compactionRun, run, { team, messageId: passId });
  return passId;
}
const result = (): Promise<compaction.Finished> =>
  eventually(() => Promise.resolve(ScriptedOrchestrator.finished[0] ?? Promise.reject(new Error('no result yet'))));

beforeEach(() => {
  ScriptedOrchestrator.reset(jobOf(), entries);
  ScriptedGateway.reset(() => says(summary));
  ScriptedStore.records.clear();
});

it('claims, reads in pages, summarises through the gateway, stores what it hides and tells the result', async () => {
  const passId = await queue();
  const finished = await result();
  expect(finished).toMatchObject({
    taskId: 'task-1',
    passId,
    basedOnGeneration: 0,
    outcome: PassOutcome.REDUCED,
    before: 25_000,
    window: 32_768,
    windowSource: 'served',
    threshold: 16_384,
    summaryCalls: 1,
    worker: 'worker-1',
    tiers: [{ tier: 'summary', outcome: 'applied', before: 25_000, after: finished.after }],
  });
  expect(ScriptedGateway.requests).toMatchObject([{ purpose: 'summary', toolChoice: 'none', epoch: 3, enforceThreshold: false }]);
  const { checkpoint } = finished;
  const view = renderView({ system: 'Rules: be careful.', tools: [], entries, checkpoint });
  expect(Object.values(checkers).flatMap((check) => check(view))).toEqual([]);
  expect(Buffer.from(ScriptedStore.records.get('call-1') ?? []).toString()).toBe('line 1 of the file. '.repeat(200));
});

it('a pass that is closed is acknowledged without work', async () => {
  ScriptedOrchestrator.reset(undefined, entries);
  await queue();
  await eventually(() => Promise.resolve(ScriptedOrchestrator.claims.length === 1));
  const next = transcriptOf(24);
  ScriptedOrchestrator.reset(jobOf(), next);
  await queue();
  await result();
  expect(ScriptedOrchestrator.claims.map(({ delivery }) => delivery)).toEqual([1]);
  expect(ScriptedGateway.requests).toHaveLength(1);
});

it('without a usable summary the structural tiers land, and the result says so', async () => {
  ScriptedGateway.reset(() => Promise.reject(new NightshiftError('PROVIDER_QUOTA', 'no credit')));
  await queue();
  const finished = await result();
  expect(finished).toMatchObject({ outcome: PassOutcome.DEGRADED, summaryFailed: true, summaryCalls: 1 });
  expect(finished.after).toBeLessThanOrEqual(finished.effectiveThreshold);
  expect(finished.tiers[0]).toMatchObject({
    tier: 'summary',
    outcome: 'failed',
    reason: expect.stringContaining('PROVIDER_QUOTA'),
  });
});

it('the window is read afresh: a pass that the larger window made needless does nothing', async () => {
  ScriptedOrchestrator.reset(jobOf({ targetModel: 'large', chain: ['sim/large'] }), entries);
  await queue();
  expect(await result()).toMatchObject({ outcome: PassOutcome.NO_LONGER_DUE, window: 1_000_000 });
  expect(ScriptedGateway.requests).toEqual([]);
});

it('a checkpoint that no command could carry goes through the store', async () => {
  const goal = 'Keep all of this. '.repeat(3_000);
  ScriptedOrchestrator.reset(
    jobOf({
      targetModel: 'large',
      chain: ['sim/large'],
      reason: PassReason.MANUAL,
      goalAndPlan: [{ kind: 'goal', label: '', text: goal }],
    }),
    transcriptOf(120),
  );
  ScriptedOrchestrator.job = { ...ScriptedOrchestrator.job, lastSeq: 241, measured: 130_000 };
  await queue();
  const finished = await result();
  expect(finished.checkpoint).toBeUndefined();
  const stored = ScriptedStore.records.get(finished.checkpointStored?.id ?? '');
  expect(fromBinary(compaction.CheckpointSchema, stored ?? new Uint8Array()).reinjected[0]?.text).toBe(goal);
});

it('a stopped task aborts its pass at once, and no result is told', async () => {
  ScriptedGateway.reset(hangs);
  await queue();
  await eventually(() => Promise.resolve(ScriptedGateway.requests.length === 1));
  const replies = await orchestrator.bus.gather(routes.taskStop, { taskId: 'task-1' }, { team, waitMs: 1_000, expect: 1 });
  expect(replies).toMatchObject([{ party: 'compactor', instance: 'worker-1', stopped: 1 }]);
  const idle = (): Promise<boolean> =>
    orchestrator.bus
      .gather(routes.taskStop, { taskId: 'task-1' }, { team, waitMs: 1_000, expect: 1 })
      .then(([reply]) => reply?.idle === true);
  await eventually(idle);
  expect(ScriptedOrchestrator.finished).toEqual([]);
});

it('a stop that overtakes its pass still stops it', async () => {
  await orchestrator.bus.gather(routes.taskStop, { taskId: 'task-1' }, { team, waitMs: 1_000, expect: 1 });
  await queue();
  ScriptedOrchestrator.reset(jobOf({ rootId: 'root-2' }), entries);
  const run = { taskId: 'task-2', passId: 'pass-after-stop', generation: 0 };
  await orchestrator.bus.command(routes.compactionRun, run, { team, messageId: 'pass-after-stop' });
  expect((await result()).taskId).toBe('task-2');
});

it('at shutdown unfinished work goes back at once, and another worker does it', async () => {
  ScriptedGateway.reset(hangs);
  const run = { taskId: 'task-3', passId: 'pass-moved', generation: 0 };
  await orchestrator.bus.command(routes.compactionRun, run, { team, messageId: 'pass-moved' });
  await eventually(() => Promise.resolve(ScriptedGateway.requests.length === 1));
  const stopping = worker.stop();
  ScriptedGateway.reset(() => says(summary));
  await stopping;
  worker = await startWorker('worker-2');
  expect(await result()).toMatchObject({ passId: 'pass-moved', worker: 'worker-2', outcome: PassOutcome.REDUCED });
});
