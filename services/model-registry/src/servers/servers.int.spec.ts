import { scriptedHttp } from '@nightshift/testing';
import type { ScriptedAnswer, ScriptedHttp } from '@nightshift/testing';
import { jsonClient } from '../poll/json-client';
import type { PolledFigures } from '../windows/window.store';
import { serverReaderFor } from './server-readers';
import type { Poll, ServerReader } from './server-reader';

let server: ScriptedHttp;
beforeAll(async () => {
  server = await scriptedHttp();
});
afterAll(() => server.stop());

const client = (path = ''): ReturnType<typeof jsonClient> =>
  jsonClient(`${server.url}${path}`, { timeoutMs: 500, maxBytes: 100_000 });

function reader(vendor: string): ServerReader {
  const made = serverReaderFor(vendor);
  if (!made) throw new Error(vendor);
  return made;
}

function poll(vendor: string, answers: Record<string, ScriptedAnswer>): Promise<Poll> {
  server.answers = answers;
  server.seen.length = 0;
  return reader(vendor).poll(client());
}

const figures = (models: PolledFigures[]): unknown[] =>
  models.map(({ model, window, trainedMax, modelfileNumCtx, inputMax, loaded, cloud }) =>
    JSON.parse(JSON.stringify({ model, window, trainedMax, modelfileNumCtx, inputMax, loaded, cloud })),
  );

describe('Ollama', () => {
  const tag = (name: string, more: object = {}): object => ({
    name,
    model: name,
    digest: `sha-${name}`,
    modified_at: '2026',
    ...more,
  });
  const show = (context: number, parameters = ''): ScriptedAnswer => ({
    parameters,
    model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': context },
  });

  it('keeps served and trained apart: loaded with 4096 of 40960', async () => {
    const { models, version } = await poll('ollama', {
      'GET /api/tags': { models: [tag('qwen3:8b')] },
      'GET /api/ps': { models: [{ name: 'qwen3:8b', context_length: 4096 }] },
      'POST /api/show': show(40_960),
      'GET /api/version': { version: '0.9.6' },
    });
    expect(figures(models)).toEqual([{ model: 'qwen3:8b', window: 4096, trainedMax: 40_960, loaded: true, cloud: false }]);
    expect(version).toBe('0.9.6');
  });

  it('does not take the trained maximum for the window of a model that is not loaded, and reads num_ctx of the Modelfile', async () => {
    const { models } = await poll('ollama', {
      'GET /api/tags': { models: [tag('a')] },
      'GET /api/ps': { models: [] },
      'POST /api/show': show(131_072, 'stop                           "<|im_end|>"\nnum_ctx                        8192\n'),
    });
    expect(figures(models)).toEqual([{ model: 'a', trainedMax: 131_072, modelfileNumCtx: 8192, loaded: false, cloud: false }]);
  });

  it('takes the full window of a cloud row at once, although nothing is loaded', async () => {
    const { models } = await poll('ollama', {
      'GET /api/tags': { models: [tag('gpt-oss:120b-cloud', { remote_host: 'https://ollama.com' })] },
      'GET /api/ps': { models: [] },
      'POST /api/show': show(131_072),
    });
    expect(figures(models)).toEqual([
      { model: 'gpt-oss:120b-cloud', window: 131_072, trainedMax: 131_072, loaded: true, cloud: true },
    ]);
  });

  it('copes with builds that report no context_length and have no version', async () => {
    const { models, version } = await poll('ollama', {
      'GET /api/tags': { models: [tag('a')] },
      'GET /api/ps': { models: [{ name: 'a' }] },
      'POST /api/show': show(8192),
    });
    expect([figures(models), version]).toEqual([[{ model: 'a', trainedMax: 8192, loaded: true, cloud: false }], '']);
  });

  it('asks for details once per version of a model, and never generates anything', async () => {
    const ollama = reader('ollama');
    server.answers = {
      'GET /api/tags': { models: [tag('a'), tag('b')] },
      'GET /api/ps': { models: [] },
      'POST /api/show': show(8192),
    };
    server.seen.length = 0;
    await ollama.poll(client());
    await ollama.poll(client());
    server.answers['GET /api/tags'] = { models: [tag('a', { digest: 'new' }), tag('b')] };
    await ollama.poll(client());
    expect(server.seen.filter((each) => each.url === '/api/show').map((each) => each.body)).toEqual([
      '{"model":"a"}',
      '{"model":"b"}',
      '{"model":"a"}',
    ]);
    expect(server.seen.some((each) => each.url === '/api/generate' || each.url === '/api/chat')).toBe(false);
  });

  it('loads a model with an empty prompt and the num_ctx that calls will send', async () => {
    server.answers = { 'POST /api/generate': { done: true } };
    server.seen.length = 0;
    await reader('ollama').load?.(client(), 'a', { numCtx: 16_384, signal: AbortSignal.timeout(1_000) });
    expect(server.seen.map((each) => JSON.parse(each.body) as unknown)).toEqual([
      { model: 'a', prompt: '', stream: false, options: { num_ctx: 16_384 } },
    ]);
  });

  it('takes the address of the OpenAI-compatible route too', async () => {
    server.answers = { 'GET /api/tags': { models: [] } };
    await expect(reader('ollama').poll(client('/v1/'))).resolves.toMatchObject({ models: [] });
  });
});

describe('LM Studio', () => {
  it('v0: keeps the loaded length, not the maximum (81920 of 262144)', async () => {
    const { models } = await poll('lmstudio', {
      'GET /api/v0/models': {
        data: [
          { id: 'qwen3-8b', type: 'llm', state: 'loaded', max_context_length: 262_144, loaded_context_length: 81_920 },
          { id: 'idle', type: 'llm', state: 'not-loaded', max_context_length: 131_072 },
          { id: 'embed', type: 'embeddings', state: 'loaded', max_context_length: 2048, loaded_context_length: 2048 },
        ],
      },
    });
    expect(figures(models)).toEqual([
      { model: 'qwen3-8b', window: 81_920, trainedMax: 262_144, loaded: true, cloud: false },
      { model: 'idle', trainedMax: 131_072, loaded: false, cloud: false },
    ]);
  });

  it('v1: takes the smallest of several instances for the key, and each instance by its id', async () => {
    const instance = (id: string, length: number): object => ({ id, config: { context_length: length } });
    const { models, version } = await poll('lmstudio', {
      'GET /api/v1/models': {
        models: [
          {
            type: 'llm',
            key: 'qwen3',
            loaded_instances: [instance('qwen3', 32_768), instance('qwen3:2', 8192)],
            max_context_length: 131_072,
          },
          { type: 'llm', key: 'idle', loaded_instances: [], max_context_length: 65_536 },
          { type: 'embedding', key: 'embed', loaded_instances: [], max_context_length: 2048 },
        ],
      },
    });
    expect(figures(models)).toEqual([
      { model: 'qwen3', window: 8192, trainedMax: 131_072, loaded: true, cloud: false },
      { model: 'qwen3:2', window: 8192, trainedMax: 131_072, loaded: true, cloud: false },
      { model: 'idle', trainedMax: 65_536, loaded: false, cloud: false },
    ]);
    expect(version).toBe('api v1');
  });

  it('falls back to v0 where v1 answers 200 with an error text', async () => {
    const { version } = await poll('lmstudio', {
      'GET /api/v1/models': { error: 'Unexpected endpoint' },
      'GET /api/v0/models': { data: [] },
    });
    expect(version).toBe('api v0');
  });
});

describe('vLLM and SGLang', () => {
  const rows = {
    data: [
      { id: 'base', parent: null, max_model_len: 32_768 },
      { id: 'lora', parent: 'base', root: '/adapters/x', max_model_len: null },
      { id: 'orphan', parent: 'gone', max_model_len: null },
    ],
  };

  it('gives a LoRA row the window of its parent, and none to one without', async () => {
    const { models } = await poll('vllm', { 'GET /v1/models': rows, 'GET /version': { version: '0.10.1' } });
    expect(figures(models)).toEqual([
      { model: 'base', window: 32_768, loaded: true, cloud: false },
      { model: 'lora', window: 32_768, loaded: true, cloud: false },
      { model: 'orphan', loaded: true, cloud: false },
    ]);
  });

  it('SGLang: the least of context length and pool of keys and values, and the input maximum apart', async () => {
    const { models } = await poll('sglang', {
      'GET /v1/models': { data: [{ id: 'm', max_model_len: 131_072 }] },
      'GET /get_server_info': {
        context_length: 131_072,
        max_total_num_tokens: 60_000,
        max_req_input_len: 59_994,
        version: '0.5',
      },
    });
    expect(figures(models)).toEqual([{ model: 'm', window: 60_000, inputMax: 59_994, loaded: true, cloud: false }]);
  });
});

describe('llama.cpp', () => {
  const single = { data: [{ id: 'gguf', meta: { n_ctx_train: 131_072 } }] };

  it('takes n_ctx per slot as it is: 4096 with two slots is 4096, never 2048 or 8192', async () => {
    const { models } = await poll('llamacpp', {
      'GET /props': { default_generation_settings: { n_ctx: 4096 }, total_slots: 2, build_info: 'b6500' },
      'GET /v1/models': single,
    });
    expect(figures(models)).toEqual([{ model: 'gguf', window: 4096, trainedMax: 131_072, loaded: true, cloud: false }]);
  });

  it('falls back to the slots, then to the meta data, never to the trained length', async () => {
    const bySlots = await poll('llamacpp', {
      'GET /slots': [
        { id: 0, n_ctx: 8192 },
        { id: 1, n_ctx: 8192 },
      ],
      'GET /v1/models': single,
    });
    expect(figures(bySlots.models)).toEqual([{ model: 'gguf', window: 8192, trainedMax: 131_072, loaded: true, cloud: false }]);
    const loading = await poll('llamacpp', { 'GET /v1/models': { data: [{ id: 'gguf', meta: null }] } });
    expect(figures(loading.models)).toEqual([{ model: 'gguf', loaded: true, cloud: false }]);
    const trainedOnly = await poll('llamacpp', { 'GET /v1/models': single });
    expect(figures(trainedOnly.models)).toEqual([{ model: 'gguf', trainedMax: 131_072, loaded: true, cloud: false }]);
  });

  it('router mode: asks loaded and sleeping models only, and without autoload', async () => {
    const { models } = await poll('llamacpp', {
      'GET /props': { default_generation_settings: { n_ctx: 0 } },
      'GET /models': {
        data: [
          { id: 'org/up', status: { value: 'loaded', args: ['-c', '16384'] } },
          { id: 'asleep', status: { value: 'sleeping' } },
          { id: 'cold', status: { value: 'unloaded', args: ['-c', '16384'] } },
          { id: 'coming', status: { value: 'downloading' } },
        ],
      },
      'GET /props?model=org%2Fup&autoload=false': { default_generation_settings: { n_ctx: 16_384 } },
      'GET /props?model=asleep&autoload=false': { default_generation_settings: { n_ctx: 8192 } },
    });
    const byName = [...figures(models)].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    expect(byName).toEqual([
      { model: 'asleep', window: 8192, loaded: true, cloud: false },
      { model: 'cold', loaded: false, cloud: false },
      { model: 'coming', loaded: false, cloud: false },
      { model: 'org/up', window: 16_384, loaded: true, cloud: false },
    ]);
    const asked = server.seen.filter((each) => each.url.startsWith('/props?'));
    expect(asked.every((each) => each.url.endsWith('&autoload=false'))).toBe(true);
    expect(asked.some((each) => /cold|coming/.test(each.url))).toBe(false);
  });
});

describe('hostile or broken answers', () => {
  it.each<[string, ScriptedAnswer, string, string]>([
    ['a frame of the wrong type', { models: 'many' }, 'FAILED_PRECONDITION', '/api/tags: models: Invalid input'],
    ['an array instead of an object', [], 'FAILED_PRECONDITION', '/api/tags: answer: Invalid input'],
    [
      'more models than anybody has',
      { models: Array.from({ length: 2_001 }, () => ({})) },
      'FAILED_PRECONDITION',
      'lists 2001 models',
    ],
    [
      'an answer that never ends growing',
      { models: [], padding: 'x'.repeat(200_000) },
      'FAILED_PRECONDITION',
      'larger than 100000 bytes',
    ],
    [
      'a redirect to another host',
      (_request: unknown, response: { writeHead(s: number, h: object): { end(): void } }) =>
        response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
      'FAILED_PRECONDITION',
      'redirects elsewhere, which is not followed',
    ],
    [
      'no JSON',
      (_request: unknown, response: { end(t: string): void }) => response.end('<html>'),
      'FAILED_PRECONDITION',
      'is no JSON',
    ],
    ['silence', () => undefined, 'UNAVAILABLE', 'no answer within 500 ms'],
    [
      'a status of 503',
      (_request: unknown, response: { writeHead(s: number): { end(): void } }) => response.writeHead(503).end(),
      'UNAVAILABLE',
      'status 503',
    ],
    [
      'a key being asked for',
      (_request: unknown, response: { writeHead(s: number): { end(): void } }) => response.writeHead(401).end(),
      'FAILED_PRECONDITION',
      'wants a key (401)',
    ],
  ])('refuses %s with a clear state', async (_what, answer, code, text) => {
    await expect(poll('ollama', { 'GET /api/tags': answer })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(text),
    });
  });

  it.each([
    ['text', '32768'],
    ['a negative number', -1],
    ['zero', 0],
    ['a fraction', 4096.5],
    ['more than anybody serves', 1e12],
    ['an object', {}],
  ])('leaves out a row whose window is %s, and takes the others', async (_what, value) => {
    const { models, remarks } = await poll('vllm', {
      'GET /v1/models': { data: [{ id: 'bad', max_model_len: value }, null, { id: 'good', max_model_len: 8192 }] },
    });
    expect(figures(models)).toEqual([{ model: 'good', window: 8192, loaded: true, cloud: false }]);
    expect(remarks).toHaveLength(2);
  });

  it('is UNAVAILABLE when nothing listens', async () => {
    await server.stop();
    await expect(poll('vllm', {})).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await server.start();
  });
});
