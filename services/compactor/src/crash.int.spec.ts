import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { Module } from '@nestjs/common';
import type { RunningService } from '@nightshift/bus';
import { summarySections } from '@nightshift/compaction';
import { compaction, routes } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { startChild } from '@nightshift/local-stack';
import type { Child } from '@nightshift/local-stack';
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
import { says, ScriptedGateway } from './scripted/scripted-gateway';
import { ScriptedOrchestrator } from './scripted/scripted-orchestrator';
import { ScriptedStore } from './scripted/scripted-store';

const team = 'team-a';
const folder = mkdtempSync(join(tmpdir(), 'nightshift-compactor-'));
const others: RunningService[] = [];
const children: Child[] = [];

@Module({ controllers: [ScriptedOrchestrator] })
class OrchestratorModule {}
@Module({ controllers: [ScriptedGateway] })
class GatewayModule {}
@Module({ controllers: [ScriptedStore] })
class StoreModule {}

// Before the server below: hooks run in the order they stand in.
afterAll(async () => {
  await Promise.all(children.map((child) => child.stop(0)));
  await Promise.all(others.map((service) => service.stop()));
  rmSync(folder, { recursive: true, force: true });
});
const nats = withNats();

beforeAll(async () => {
  // One figure for all: whoever comes first creates the consumers.
  const partial = { natsUrl: nats.url, partial: true, env: { ACK_WAIT_MS: '1500' } } as const;
  const orchestrator = await startServiceModule({ service: 'orchestrator', module: OrchestratorModule, ...partial });
  others.push(
    orchestrator,
    await startServiceModule({ service: 'provider-gateway', module: GatewayModule, ...partial }),
    await startServiceModule({ service: 'tool-result-store', module: StoreModule, ...partial }),
  );
  const bucket = await orchestrator.bus.kv(windowBucket);
  const name = { provider: 'sim', endpoint: '', model: 'primary' };
  const window = create(compaction.ModelWindowSchema, { ...name, window: 32_768, source: 'served' });
  await bucket.put(windowKey(name), toBinary(compaction.ModelWindowSchema, window));
  await bucket.put(seededKey, '1');
});

/** A compactor as its own process, which dies at a point the first time somebody gets there. */
async function startWorker(instance: string, crash: string): Promise<Child> {
  const root = join(__dirname, '../../..');
  const child = await startChild({
    command: process.execPath,
    args: ['-r', join(root, 'libs/testing/src/source-hook.cjs'), join(__dirname, 'main.ts')],
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      NATS_URL: nats.url,
      METRICS_PORT: '0',
      LOG_LEVEL: 'warn',
      ACK_WAIT_MS: '1500',
      SHUTDOWN_GRACE_MS: '300',
      INSTANCE_ID: instance,
      CRASH_POINT: crash,
      CRASH_MARKER: join(folder, crash),
    },
  });
  children.push(child);
  return child;
}

function entries(): transcript.Entry[] {
  const list = [userEntry('Make the build green.')];
  for (let i = 1; i <= 24; i++) {
    list.push(assistantEntry({ text: `step ${i}`, calls: [{ id: `call-${i}`, name: 'read_file' }] }));
    list.push(toolResultEntry({ callId: `call-${i}`, tool: 'read_file', text: `line ${i} of the file. `.repeat(200) }));
  }
  return numbered(list);
}
const summary = summarySections.map(({ number, title }) => `## ${number}. ${title}\nAs told.`).join('\n');

test.each([
  ['right after the claim', 'compactor.claimed'],
  ['before its first tier', 'compactor.summary'],
  ['after it stored something', 'compactor.storing'],
  ['before it tells the result', 'compactor.before_finished'],
  ['after it told the result, before the job is acknowledged', 'compactor.finished'],
])(
  'a compactor that dies %s repeats nothing visible and loses nothing',
  async (_when, point) => {
    const all = entries();
    ScriptedStore.records.clear();
    ScriptedGateway.reset(() => says(summary));
    ScriptedOrchestrator.reset(
      {
        reason: compaction.PassReason.THRESHOLD,
        lastSeq: all.length,
        system: 'rules',
        targetProvider: 'sim',
        targetModel: 'primary',
        measured: 25_000,
        goalAndPlan: [{ kind: 'goal', label: '', text: 'Make the build green.' }],
        chain: ['sim/primary'],
        rootId: 'root-1',
      },
      all,
    );
    const first = await startWorker('worker-a', point);
    const passId = `pass-${point}`;
    await others[0]?.bus.command(routes.compactionRun, { taskId: 'task-1', passId }, { team, messageId: passId });
    expect({ ...(await first.exited), said: first.tail() }).toMatchObject({ signal: 'SIGKILL' });

    const second = await startWorker('worker-b', point);
    const told = (): compaction.Finished[] => ScriptedOrchestrator.finished.filter((finished) => finished.passId === passId);
    // The job is delivered again, and acknowledged: closed where the result had been told, run again where not.
    await eventually(() => Promise.resolve(ScriptedOrchestrator.claims.length >= 2 && told().length === 1), {
      timeoutMs: 30_000,
    });
    await second.stop();
    const [finished] = told();
    expect(told()).toHaveLength(1);
    expect(finished).toMatchObject({ outcome: compaction.PassOutcome.REDUCED, checkpoint: { generation: 1 } });
    for (let i = 1; i <= 15; i++) {
      expect(Buffer.from(ScriptedStore.records.get(`call-${i}`) ?? []).toString()).toBe(`line ${i} of the file. `.repeat(200));
    }
  },
  60_000,
);
