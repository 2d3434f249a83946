import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { v7 } from 'uuid';
import { loadConfig, parseNightshiftFile } from '@nightshift/config';
import { compaction, llm, transcript, type NightshiftError } from '@nightshift/contracts';
import { startSimulator, type Simulator } from '@nightshift/model-simulator';
import { z } from 'zod';
import { complete } from '../core/complete';
import type { GatewayDeps } from '../core/gateway-deps';
import { BreakerBoard } from '../health/breaker-board';
import { ProviderSlots } from '../health/provider-slots';
import { ProviderCatalog } from '../providers/catalog';
import { createHttpClient } from '../transport/http-client';
import { vendorNames, vendors, type VendorName } from './rows';

/** Where the simulator speaks as each vendor. A missing row does not compile. */
const mounts: Readonly<Record<VendorName, string>> = {
  anthropic: '/anthropic',
  openai: '/openai/v1',
  'openai-responses': '/openai/v1',
  codex: '/codex',
  gemini: '/gemini/v1beta/openai',
  xai: '/grok/v1',
  minimax: '/minimax/v1',
  'minimax-anthropic': '/anthropic',
  mistral: '/mistral/v1',
  deepseek: '/deepseek/v1',
  groq: '/groq/openai/v1',
  together: '/together/v1',
  openrouter: '/openrouter/api/v1',
  'azure-openai': '/azure/openai/v1',
  'bedrock-openai': '/bedrock/openai/v1',
  'bedrock-anthropic': '/bedrock/anthropic',
  ollama: '/ollama',
  lmstudio: '/lmstudio/v1',
  vllm: '/vllm/v1',
  llamacpp: '/llamacpp/v1',
  sglang: '/sglang/v1',
  litellm: '/litellm/v1',
  'apple-on-device': '/openai/v1',
  cerebras: '/openai/v1',
  'openai-compatible': '/openai/v1',
  'anthropic-compatible': '/anthropic',
};

const tools = ['list_files', 'run_command', 'write_file', 'read_file', 'update_plan', 'mark_criterion', 'finish'].map((name) =>
  create(transcript.ToolSchemaSchema, { name, description: name, inputSchemaJson: '{"type":"object","properties":{}}' }),
);
const onePixel = Uint8Array.from(
  Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'),
);
type MessageInit = MessageInitShape<typeof transcript.ViewMessageSchema>;
const user = (...parts: MessageInitShape<typeof transcript.PartSchema>[]): MessageInit => ({
  body: { case: 'user', value: { parts } },
});
const text = (value: string): MessageInitShape<typeof transcript.PartSchema> => ({ kind: { case: 'text', value } });
const image = { kind: { case: 'image', value: { mediaType: 'image/png', data: onePixel, width: 1, height: 1 } } } as const;

let simulator: Simulator;
const client = createHttpClient();
beforeAll(async () => {
  const model = { window: 20_000, outputMax: 4_096, reasoning: true };
  simulator = await startSimulator({
    config: {
      models: {
        plain: { ...model, reasoning: false, script: { name: 'text', text: 'three words here' } },
        agent: { ...model, script: { name: 'quick', calls: 4, parallel: 2 } },
        locked: { ...model, keys: ['the-right-one'] },
        narrow: { ...model, window: 500, script: 'echo', overflow: 'refuse' },
        limited: { ...model, faults: [{ action: { kind: 'rate_limit', hint: { form: 'none' } }, times: 'always' }] },
      },
    },
  });
});
afterAll(async () => {
  client.close();
  await simulator?.stop();
});

function depsFor(vendor: VendorName, baseUrl: string, key: string): GatewayDeps {
  const quiet = (): void => undefined;
  const file = parseNightshiftFile(
    `providers:\n  it: { vendor: ${vendor}, base_url: "${baseUrl}", api_key_env: KEY }\n`,
    'contract',
  );
  return {
    catalog: ProviderCatalog.from(file, { KEY: key }),
    client,
    breakers: new BreakerBoard('contract', { onTrip: quiet, onChange: quiet, onStoreFault: quiet }, Date.now),
    slots: new ProviderSlots(),
    policy: undefined,
    windowOf: () => create(compaction.ModelWindowSchema, { window: 20_000, source: 'served' }),
    modelsOf: () => [],
    attemptEnded: () => Promise.resolve(),
    observe: quiet,
    counters: { attempt: quiet, fallback: quiet, exhausted: quiet, silentTruncation: quiet },
    now: Date.now,
    newId: v7,
    random: () => 0,
    sleep: () => Promise.resolve(),
  };
}

interface Ended {
  reply: llm.CompleteReply | undefined;
  error: NightshiftError | undefined;
  attempts: llm.Attempt[];
}

/** One call of the contract, whatever stands behind it. */
type Ask = (
  model: string,
  messages: MessageInit[],
  options?: { unstreamed?: boolean; tools?: boolean; key?: string },
) => Promise<Ended>;

function asker(vendor: VendorName, baseUrl: string, usualKey: string): Ask {
  return async (model, messages, options = {}) => {
    const request = create(llm.CompleteRequestSchema, {
      taskId: 'contract',
      purpose: 'turn',
      chain: [{ provider: 'it', model }],
      view: { system: 'You are part of a test.', tools: options.tools ? tools : [], messages },
      maxOutputTokens: 400,
      measuredInputTokens: 100,
    });
    const call = {
      team: 'contract',
      signal: new AbortController().signal,
      deadlineMs: Date.now() + 60_000,
      unstreamed: options.unstreamed ?? false,
    };
    for await (const event of complete(request, call, depsFor(vendor, baseUrl, options.key ?? usualKey))) {
      if (event.kind === 'finished') return { reply: event.reply, error: undefined, attempts: event.reply.attempts };
      if (event.kind === 'failed') return { reply: undefined, error: event.error, attempts: event.attempts };
    }
    throw new Error('no terminal event');
  };
}

const said = (ended: Ended): string => {
  if (ended.error) throw ended.error;
  return (ended.reply?.message?.blocks ?? []).map((block) => (block.kind.case === 'text' ? block.kind.value : '')).join('');
};
const callsOf = (ended: Ended): transcript.ToolCall[] =>
  (ended.reply?.message?.blocks ?? []).flatMap((block) => (block.kind.case === 'toolCall' ? [block.kind.value] : []));

/** The results of a turn, one of them with a picture. */
function resultsOf(calls: readonly transcript.ToolCall[]): MessageInit {
  const results = calls.map((call, index) => ({
    callId: call.id,
    providerId: call.providerId,
    tool: call.name,
    parts: index === 0 ? [text('done'), image] : [text('done')],
    isError: index === 1,
  }));
  return { body: { case: 'toolResults', value: { results } } };
}

describe.each(vendorNames)('%s', (vendor) => {
  const ask: Ask = (...given) => asker(vendor, simulator.url + mounts[vendor], 'simulator-needs-no-secret')(...given);

  it.each([false, true])('answers with text, usage and a stop reason (unstreamed: %s)', async (unstreamed) => {
    const ended = await ask('plain', [user(text('hello'))], { unstreamed });
    expect(said(ended)).toBe('three words here');
    expect(ended.reply?.message?.stopReason).toBe(transcript.StopReason.END_TURN);
    // The bridge is not asked for figures, and the simulator gives none unasked.
    const reported = unstreamed || vendor !== 'apple-on-device';
    expect(ended.reply?.usage?.source).toBe(reported ? transcript.UsageSource.TERMINAL : transcript.UsageSource.ESTIMATED);
    expect(ended.reply?.usage?.inputTotal).toBeGreaterThan(0);
    expect(ended.reply?.usage?.outputTotal).toBeGreaterThan(0);
  });

  it('carries parallel tool calls, their results, pictures and reasoning through a whole job', async () => {
    const messages: MessageInit[] = [user(text('Do the job.'), image)];
    const names: string[] = [];
    for (let turn = 0; turn < 8 && !names.includes('finish'); turn++) {
      const ended = await ask('agent', messages, { tools: true, unstreamed: turn % 2 === 1 });
      if (ended.error) throw ended.error;
      const calls = callsOf(ended);
      expect(ended.reply?.message?.stopReason).toBe(transcript.StopReason.TOOL_CALLS);
      for (const call of calls) expect(JSON.parse(call.argumentsJson)).toBeInstanceOf(Object);
      names.push(...calls.map((call) => call.name));
      messages.push(
        { body: { case: 'assistant', value: ended.reply?.message as transcript.AssistantMessage } },
        resultsOf(calls),
      );
    }
    expect(names).toEqual(['list_files', 'run_command', 'write_file', 'read_file', 'finish']);
  });

  it("takes over another provider's history and says what it dropped", async () => {
    const calls = ['call_0', 'call_0'].map((providerId) =>
      create(transcript.ToolCallSchema, { id: v7(), providerId, name: 'list_files', argumentsJson: '{}' }),
    );
    const [first, second] = calls as [transcript.ToolCall, transcript.ToolCall];
    const turn = (call: transcript.ToolCall): MessageInit => ({
      body: {
        case: 'assistant',
        value: {
          provider: 'elsewhere',
          model: 'other',
          blocks: [
            {
              kind: {
                case: 'reasoning',
                value: { text: 'hm', signature: 'signed elsewhere', provider: 'elsewhere', model: 'other' },
              },
            },
            { kind: { case: 'text', value: 'Looking.' } },
            { kind: { case: 'toolCall', value: call } },
          ],
        },
      },
    });
    const ended = await ask('plain', [user(text('go on')), turn(first), resultsOf([first]), turn(second), resultsOf([second])], {
      tools: true,
    });
    expect(said(ended)).toBe('three words here');
    expect(ended.reply?.translations).toContain('dropped a reasoning block signed by elsewhere/other (2 times)');
  });

  it('tells a refused key, a full window and a rate limit apart', async () => {
    const outcomes = async (ended: Promise<Ended>): Promise<string[]> => [
      ...new Set((await ended).attempts.map((one) => one.outcome)),
    ];
    expect(await outcomes(ask('locked', [user(text('hello'))]))).toEqual(['auth']);
    expect(await outcomes(ask('narrow', [user(text('far too long for it '.repeat(400)))]))).toEqual(['overflow']);
    expect(await outcomes(ask('limited', [user(text('hello'))]))).toEqual(['rate_limit']);
  });
});

/** Costs money: only with LIVE_CONTRACT=1, and only for vendors whose key and LIVE_MODEL_<VENDOR> are set. */
const live = loadConfig({
  LIVE_CONTRACT: z.string().optional(),
  ...Object.fromEntries(
    vendorNames.flatMap((name) => [
      [modelVariable(name), z.string().optional()],
      [vendors[name].keyEnv ?? 'NO_KEY', z.string().optional()],
    ]),
  ),
}) as Readonly<Record<string, string | undefined>>;
function modelVariable(vendor: VendorName): string {
  return `LIVE_MODEL_${vendor.toUpperCase().replaceAll('-', '_')}`;
}

for (const vendor of vendorNames) {
  const model = live[modelVariable(vendor)];
  const key = live[vendors[vendor].keyEnv ?? 'NO_KEY'] ?? '';
  const baseUrl = vendors[vendor].baseUrl;
  const wanted =
    live.LIVE_CONTRACT === '1' && model !== undefined && baseUrl !== undefined && (key !== '' || !vendors[vendor].needsKey);
  (wanted ? it : it.skip)(`live: ${vendor} answers with text and usage`, async () => {
    const ended = await asker(vendor, baseUrl ?? '', key || 'none')(model ?? '', [user(text('Say one word.'))]);
    expect(said(ended)).not.toBe('');
    expect(ended.reply?.usage?.source).toBe(transcript.UsageSource.TERMINAL);
  });
}
