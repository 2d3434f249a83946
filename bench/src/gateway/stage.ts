import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { Bus } from '@nightshift/bus';
import { llm, routes } from '@nightshift/contracts';
import { freePort, startChild, type Child } from '@nightshift/local-stack';
import { createLogger, createMetrics } from '@nightshift/metrics';
import { startStack, type RunningStack } from '@nightshift/testing';
import { post, type Way } from './load';

/** A request of about 2 KB, as an agent's first turn has. */
const prompt = 'Explain what this function does and name its risks. '.repeat(38);
const model = 'bench-model';
const frames = 60;
const frameMs = 20;

export interface Stage {
  bareUrl: string;
  internalUrl: string;
  /** Headers of a pass-through request. */
  nativeHeaders: Readonly<Record<string, string>>;
  body(stream: boolean): Buffer;
  bare: Way;
  native: Way;
  /** Same route, but translated from the platform's own form and sent by the SDK. */
  translated: Way;
  overNats: Way;
  busAlone: Way;
  pinned: boolean;
  stop(): Promise<void>;
}

/** Linux only: the process in the middle on one core, the upstream on the other. */
function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['-cp', String(core), String(pid)]).status === 0;
}

function hasTwoCores(): boolean {
  try {
    return Number(execFileSync('nproc', { encoding: 'utf8' })) >= 2;
  } catch {
    return false;
  }
}

export async function openStage(): Promise<Stage> {
  const gatewayPort = await freePort();
  const stack: RunningStack = await startStack({
    services: ['provider-gateway', 'model-registry'],
    simulator: { bench: { deltas: frames, perDeltaMs: frameMs } },
    file: ({ base }) =>
      `providers:\n  sim: { vendor: openai-compatible, base_url: "${base}/bench/openai/v1", api_key_env: SIMULATOR_KEY, max_concurrency: 1000 }\n`,
    env: {
      'provider-gateway': { SIMULATOR_KEY: 'simulator-needs-no-secret', GATEWAY_PORT: String(gatewayPort) },
      all: { LOG_LEVEL: 'warn' },
    },
  });
  const upstream = `${stack.simulator.base}/bench/openai/v1/chat/completions`;
  let bareUrl = '';
  const proxy: Child = await startChild({
    command: process.execPath,
    args: [path.join(__dirname, 'bare-proxy.js'), upstream],
    onLine: (line) => (bareUrl ||= /^bare proxy (\S+)$/.exec(line)?.[1] ?? ''),
  });
  while (!bareUrl) await new Promise((resolve) => setTimeout(resolve, 20));
  const simulatorPid = Number(
    execFileSync('pgrep', ['-f', path.join(stack.folder, 'simulator.json')], { encoding: 'utf8' })
      .trim()
      .split('\n')[0],
  );
  const pinned = hasTwoCores() && pin(proxy.pid, 0) && pin(stack.service('provider-gateway').pid(), 0) && pin(simulatorPid, 1);

  const bus = await Bus.connect(
    { url: stack.natsUrl, service: 'orchestrator', instance: 'bench', ackWaitMs: 30_000, onDrift: 'fail' },
    createMetrics('orchestrator'),
    createLogger({ service: 'bench', level: 'warn' }),
  );
  const internalUrl = `http://127.0.0.1:${gatewayPort}/internal/complete`;
  const nativeHeaders = { 'ns-team': 'bench', 'ns-format': 'openai-chat', 'ns-chain': `sim/${model}` };
  const body = (stream: boolean): Buffer =>
    Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: prompt }], stream }));
  const plain = body(false);
  const own = Buffer.from(
    JSON.stringify({ chain: [{ provider: 'sim', model }], view: { messages: [{ user: { parts: [{ text: prompt }] } }] } }),
  );
  let epoch = 0;
  const view = {
    messages: [{ body: { case: 'user' as const, value: { parts: [{ kind: { case: 'text' as const, value: prompt } }] } } }],
  };
  return {
    bareUrl,
    internalUrl,
    nativeHeaders,
    body,
    pinned,
    bare: { name: 'bare proxy', once: () => post(bareUrl, {}, plain) },
    native: { name: 'internal route, same protocol', once: () => post(internalUrl, nativeHeaders, plain) },
    translated: {
      name: 'internal route, translated',
      once: () => post(internalUrl, { 'ns-team': 'bench', 'ns-unstreamed': 'true' }, own),
    },
    overNats: {
      name: 'llm.complete over NATS',
      async once() {
        const request = create(llm.CompleteRequestSchema, {
          taskId: 'bench',
          epoch: ++epoch,
          purpose: 'turn',
          chain: [{ provider: 'sim', model }],
          view,
          unstreamed: true,
        });
        await bus.request(routes.llmComplete, request, { team: 'bench' });
      },
    },
    busAlone: {
      name: 'request that does nothing over NATS',
      async once() {
        await bus.request(routes.providerStatus, {}, { team: 'bench' });
      },
    },
    async stop() {
      await bus.close();
      await proxy.stop();
      await stack.stop();
    },
  };
}
