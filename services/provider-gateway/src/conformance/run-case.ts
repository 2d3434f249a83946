import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { parseNightshiftFile } from '@nightshift/config';
import { compaction, llm, transcript, type NightshiftError } from '@nightshift/contracts';
import { complete } from '../core/complete';
import type { GatewayDeps, Observation } from '../core/gateway-deps';
import { BreakerBoard } from '../health/breaker-board';
import { ProviderSlots } from '../health/provider-slots';
import { ProviderCatalog } from '../providers/catalog';
import { scriptedUpstream, type ScriptedUpstream } from '../scripted/upstream';
import { createHttpClient } from '../transport/http-client';
import { vendors } from '../vendors/rows';
import type { CaseCall, ConformanceCase } from './case-schema';
import { faultsOf, type CallResult } from './compare';
import { scripted } from './play-case';

const names = 'abcdefghijklmnop';
const idOf = (index: number): string => `p${index}`;

/** Runs one case on real sockets; pauses are skipped by a clock that is moved forward. Returns what is wrong, empty = passed. */
export async function runCase(given: ConformanceCase): Promise<string[]> {
  const upstreams: ScriptedUpstream[] = [];
  const client = createHttpClient();
  try {
    for (const one of given.upstreams) {
      const format = vendors[one.vendor].format;
      const answers = one.answers;
      upstreams.push(
        await scriptedUpstream((request, number) => {
          const answer = answers[Math.min(number, answers.length) - 1];
          if (!answer) throw new RangeError('a case has at least one answer');
          return scripted(answer, format, request.body);
        }),
      );
    }
    const run = caseDeps(given, upstreams, client);
    const faults: string[] = [];
    const calls = given.calls.flatMap((call) => Array.from({ length: call.repeat }, () => call));
    if (given.parallel) {
      const results = await Promise.all(calls.map((call) => perform(call, given, run)));
      results.forEach((result, index) =>
        faults.push(...faultsOf(calls[index] as CaseCall, result).map((fault) => `call ${index + 1}: ${fault}`)),
      );
      return faults;
    }
    for (const [index, call] of calls.entries()) {
      if (index > 0) run.skip(given.pause_ms);
      const found = faultsOf(call, await perform(call, given, run));
      faults.push(...(calls.length > 1 ? found.map((fault) => `call ${index + 1}: ${fault}`) : found));
    }
    return faults;
  } finally {
    client.close();
    await Promise.all(upstreams.map((one) => one.close()));
  }
}

interface Run {
  deps: GatewayDeps;
  observed: Observation[];
  upstreams: ScriptedUpstream[];
  skip(ms: number): void;
}

function caseDeps(given: ConformanceCase, upstreams: ScriptedUpstream[], client: GatewayDeps['client']): Run {
  let skipped = 0;
  let ids = 0;
  const now = (): number => Date.now() + skipped;
  const observed: Observation[] = [];
  const providers = given.upstreams.map((one, index) => {
    const route = { 'openai-chat': '/v1', 'openai-responses': '/v1', 'anthropic-messages': '', 'ollama-chat': '' }[
      vendors[one.vendor].format
    ];
    const clocks = Object.fromEntries(Object.entries(one.clocks).map(([name, value]) => [name, value]));
    const limit = one.max_concurrency === undefined ? '' : `, max_concurrency: ${one.max_concurrency}`;
    return `  ${idOf(index)}: { vendor: ${one.vendor}, base_url: "${upstreams[index]?.url}${route}", api_key_env: KEY, clocks: ${JSON.stringify(clocks)}${limit} }`;
  });
  const file = parseNightshiftFile(`providers:\n${providers.join('\n')}\n`, 'case');
  const quiet = (): void => undefined;
  const deps: GatewayDeps = {
    catalog: ProviderCatalog.from(file, { KEY: 'canary-key-of-a-case' }),
    client,
    breakers: new BreakerBoard('case', { onTrip: quiet, onChange: quiet, onStoreFault: quiet }, now),
    slots: new ProviderSlots(),
    policy: undefined,
    modelsOf: () => [],
    windowOf: (candidate) => {
      const one = given.upstreams[Number(candidate.provider.slice(1))];
      const known = one !== undefined && one.window > 0;
      return create(compaction.ModelWindowSchema, {
        provider: candidate.provider,
        model: candidate.model,
        window: known ? one.window : 32_000,
        outputMax: one?.output_max ?? 0,
        unknown: !known,
        source: known ? 'served' : 'unknown',
      });
    },
    attemptEnded: () => Promise.resolve(),
    observe: (observation) => observed.push(observation),
    counters: { attempt: quiet, fallback: quiet, exhausted: quiet, silentTruncation: quiet },
    now,
    newId: () => `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`,
    random: () => 0.5,
    sleep: (ms, signal) => {
      skipped += ms;
      return signal.aborted ? Promise.reject(signal.reason as Error) : Promise.resolve();
    },
  };
  return { deps, observed, upstreams, skip: (ms) => void (skipped += ms) };
}

async function perform(call: CaseCall, given: ConformanceCase, run: Run): Promise<CallResult> {
  const { request } = call;
  const observedBefore = run.observed.length;
  const before = run.upstreams.map((one) => one.requests.length);
  const controller = new AbortController();
  const timer = request.abort_after_ms === undefined ? undefined : setTimeout(() => controller.abort(), request.abort_after_ms);
  const startedAt = performance.now();
  let reply: llm.CompleteReply | undefined;
  let error: NightshiftError | undefined;
  let attempts: llm.Attempt[] = [];
  let shown = '';
  let events = 0;
  for await (const event of complete(
    messageOf(call, given),
    { team: 'case', signal: controller.signal, deadlineMs: run.deps.now() + 600_000, unstreamed: request.unstreamed },
    run.deps,
  )) {
    if (reply ?? error) events++;
    if (event.kind === 'text') shown += event.text;
    if (event.kind === 'finished') {
      reply = event.reply;
      attempts = event.reply.attempts;
    }
    if (event.kind === 'failed') {
      error = event.error;
      attempts = event.attempts;
    }
  }
  clearTimeout(timer);
  const sent = run.upstreams.map((one, index) => one.requests.slice(before[index]).map((seen) => seen.body));
  return {
    reply,
    error,
    attempts,
    shown,
    eventsAfterTerminal: events,
    observed: run.observed.slice(observedBefore),
    breakers: run.deps.breakers.reports(),
    sent,
    ms: performance.now() - startedAt,
  };
}

function messageOf(call: CaseCall, given: ConformanceCase): llm.CompleteRequest {
  const { request } = call;
  const messages: MessageInitShape<typeof transcript.ViewMessageSchema>[] = [
    { body: { case: 'user', value: { parts: [{ kind: { case: 'text', value: request.text } }] } } },
  ];
  if (request.prefill !== undefined)
    messages.push({ body: { case: 'assistant', value: { blocks: [{ kind: { case: 'text', value: request.prefill } }] } } });
  return create(llm.CompleteRequestSchema, {
    taskId: 'case',
    purpose: 'turn',
    chain: given.upstreams.map((one, index) => ({
      provider: idOf(index),
      model: one.model === 'model' ? `model-${names[index]}` : one.model,
    })),
    chainPosition: request.chain_position,
    view: { messages },
    maxOutputTokens: request.max_output_tokens,
    measuredInputTokens: request.measured,
    estimatedInputTokens: request.estimated,
    enforceThreshold: request.enforce_threshold,
  });
}
