import path from 'node:path';
import type { RunningService } from '@nightshift/bus';
import { compaction, routes } from '@nightshift/contracts';
import { freePort, startChild, type Child } from '@nightshift/local-stack';
import { eventually } from '../eventually';
import { startServiceModule } from '../start-service-module';
import { startStack, type RunningStack } from '../stack/start-stack';
import { ScriptedOrchestrator, ScriptedOrchestratorModule, smallTranscript, type BurstTranscript } from './scripted-orchestrator';

const team = 'team-scale';
const root = path.resolve(__dirname, '../../../..');

export interface Worker {
  readonly name: string;
  readonly child: Child;
  readonly operationsUrl: string;
}

export interface Burst {
  readonly tasks: readonly string[];
  /** Tasks of this burst whose pass has ended. */
  ended(): number;
  finished(): compaction.Finished[];
  claims(): string[][];
  /** Until every pass has ended. @returns seconds since it was queued */
  done(timeoutMs: number): Promise<number>;
}

export interface ScaleStack {
  readonly stack: RunningStack;
  startWorkers(count: number, slots: number): Promise<Worker[]>;
  stopWorkers(): Promise<void>;
  queueBurst(name: string, passes: number): Promise<Burst>;
  /** pending and in flight, from NATS itself. */
  jsz(): Promise<{ pending: number; inFlight: number }>;
  stop(): Promise<void>;
}

/** Real NATS, Postgres, gateway, registry, result store and a model that takes its time; the spec plays the orchestrator. */
export async function startScaleStack(latencyMs: number, job: BurstTranscript = smallTranscript): Promise<ScaleStack> {
  ScriptedOrchestrator.play(job);
  const stack = await startStack({
    services: ['provider-gateway', 'model-registry', 'tool-result-store'],
    simulator: {
      models: {
        slow: {
          format: 'anthropic',
          window: job.window,
          outputMax: 4_096,
          script: { name: 'quick', calls: 1 },
          latency: { firstTokenMs: latencyMs },
        },
      },
    },
    file: ({ base }) => `
providers:
  sim:
    vendor: anthropic-compatible
    base_url: ${base}/anthropic
    api_key_env: SIMULATOR_KEY
    max_concurrency: 256
    models: { slow: { window: ${job.window}, output_max: 4096 } }
chains:
  default: [sim/slow]
`,
    env: { 'provider-gateway': { SIMULATOR_KEY: 'simulator-needs-no-secret' } },
  });
  const workers: Worker[] = [];
  let orchestrator: RunningService | undefined;
  let lastWorker = 0;
  const stopWorkers = async (): Promise<void> => {
    await Promise.all(workers.splice(0).map(({ child }) => child.stop(10_000)));
  };
  const stop = async (): Promise<void> => {
    await stopWorkers();
    await orchestrator?.stop();
    await stack.stop();
  };
  try {
    orchestrator = await startServiceModule({
      service: 'orchestrator',
      module: ScriptedOrchestratorModule,
      natsUrl: stack.natsUrl,
      partial: true,
    });
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  const { bus } = orchestrator;
  return {
    stack,
    stop,
    stopWorkers,
    async startWorkers(count, slots) {
      const started = await Promise.all(
        Array.from({ length: count }, () => startWorker(stack, `compactor-${++lastWorker}`, slots)),
      );
      workers.push(...started);
      return started;
    },
    async queueBurst(name, passes) {
      const tasks = Array.from({ length: passes }, (_, index) => `${name}-${index}`);
      const startedAt = performance.now();
      await Promise.all(
        tasks.map((taskId) =>
          bus.command(
            routes.compactionRun,
            {
              taskId,
              passId: `pass-${taskId}`,
              epoch: 1,
              reason: compaction.PassReason.THRESHOLD,
              targetProvider: 'sim',
              targetModel: 'slow',
            },
            { team, messageId: `${taskId}:run` },
          ),
        ),
      );
      const ended = (): number => tasks.filter((task) => ScriptedOrchestrator.finished.has(task)).length;
      return {
        tasks,
        ended,
        finished: () => tasks.flatMap((task) => ScriptedOrchestrator.finished.get(task) ?? []),
        claims: () => tasks.map((task) => ScriptedOrchestrator.claims.get(task) ?? []),
        async done(timeoutMs) {
          await eventually(
            () => {
              if (ended() < passes) throw new Error(`${ended()} of ${passes} passes ended`);
              return true;
            },
            { timeoutMs },
          );
          return (performance.now() - startedAt) / 1000;
        },
      };
    },
    async jsz() {
      const response = await fetch(`${stack.natsMonitorUrl}/jsz?consumers=true&config=true`);
      const { account_details: accounts } = (await response.json()) as Jsz;
      const consumer = accounts
        .flatMap(({ stream_detail: streams }) => streams)
        .find(({ name }) => name === 'COMPACTION_RUN')
        ?.consumer_detail.find(({ name }) => name === 'compactor');
      if (!consumer) throw new Error('/jsz knows no compactor on COMPACTION_RUN');
      return { pending: consumer.num_pending, inFlight: consumer.num_ack_pending };
    },
  };
}

interface Jsz {
  account_details: {
    stream_detail: { name: string; consumer_detail: { name: string; num_pending: number; num_ack_pending: number }[] }[];
  }[];
}

async function startWorker(stack: RunningStack, name: string, slots: number): Promise<Worker> {
  const port = await freePort();
  const child = await startChild({
    command: process.execPath,
    args: [path.join(root, 'services/compactor/dist/main.js')],
    cwd: root,
    env: {
      NATS_URL: stack.natsUrl,
      METRICS_PORT: String(port),
      ACK_WAIT_MS: '5000',
      SHUTDOWN_GRACE_MS: '5000',
      NIGHTSHIFT_FILE: path.join(stack.folder, 'nightshift.yaml'),
      INSTANCE_ID: name,
      COMPACTION_SLOTS: String(slots),
      LOG_LEVEL: 'warn',
    },
  });
  const operationsUrl = `http://127.0.0.1:${port}`;
  await eventually(
    async () => {
      if (child.ended()) throw new Error(child.tail());
      return (await fetch(`${operationsUrl}/health/ready`).catch(() => undefined))?.ok;
    },
    { timeoutMs: 60_000, everyMs: 100 },
  );
  return { name, child, operationsUrl };
}
