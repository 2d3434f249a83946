import { startSimulator, type Simulator } from './simulator';

describe('the servers of a configuration', () => {
  let simulator: Simulator;
  const get = async (path: string): Promise<unknown> => (await fetch(simulator.url + path)).json();
  const post = async (path: string, body: unknown): Promise<unknown> =>
    (await fetch(simulator.url + path, { method: 'POST', body: JSON.stringify(body) })).json();

  beforeEach(async () => {
    simulator = await startSimulator({
      config: {
        models: { 'claude-sim': { window: 200_000, outputMax: 64_000 } },
        servers: {
          ollama: {
            kind: 'ollama',
            models: {
              'llama3:latest': { window: 4_096, facts: { trained: 131_072, modelfileNumCtx: 8_192, loaded: false } },
              'gpt-oss:120b-cloud': { facts: { remoteHost: 'https://ollama.com' } },
            },
          },
          studio: {
            kind: 'lmstudio',
            port: 0,
            models: {
              qwen: { window: 81_920, facts: { trained: 262_144 } },
              other: { facts: { loaded: false, trained: 32_768 } },
            },
          },
          vllm: { kind: 'vllm', models: { base: { window: 32_768 }, lora: { facts: { loraOf: 'base' } } } },
          sglang: { kind: 'sglang', models: { big: { window: 65_536, facts: { kvTokens: 20_000 } } } },
          llama: { kind: 'llamacpp', models: { one: { window: 4_096, facts: { trained: 131_072, slots: 2 } } } },
          router: { kind: 'llamacpp', router: true, models: { cold: { window: 8_192, facts: { loaded: false } } } },
        },
      },
    });
  });
  afterEach(() => simulator.stop());

  it('Ollama: tags and show tell what was trained, ps what is served, and only a request loads', async () => {
    const loadedBefore = await get('/servers/ollama/api/ps');
    const shown = await post('/servers/ollama/api/show', { model: 'llama3:latest' });
    await get('/servers/ollama/api/tags');
    const stillUnloaded = await get('/servers/ollama/api/ps');
    await post('/servers/ollama/api/chat', {
      model: 'llama3:latest',
      stream: false,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const byModelfile = await get('/servers/ollama/api/ps');
    await post('/servers/ollama/api/chat', {
      model: 'llama3:latest',
      stream: false,
      options: { num_ctx: 16_384 },
      messages: [{ role: 'user', content: 'hi' }],
    });
    const byRequest = await get('/servers/ollama/api/ps');
    expect([loadedBefore, stillUnloaded]).toEqual([{ models: [] }, { models: [] }]);
    expect(shown).toMatchObject({
      model_info: { 'general.architecture': 'llama', 'llama.context_length': 131_072 },
      parameters: expect.stringMatching(/^num_ctx {2,}8192/) as unknown,
    });
    expect([byModelfile, byRequest]).toMatchObject([
      { models: [{ context_length: 8_192 }] },
      { models: [{ context_length: 16_384 }] },
    ]);
  });

  it('Ollama: a prompt above the window is cut without a word, unless the request forbids it', async () => {
    const long = { model: 'llama3:latest', stream: false, messages: [{ role: 'user', content: 'word '.repeat(9_000) }] };
    expect(await post('/servers/ollama/api/chat', long)).toMatchObject({ done: true, prompt_eval_count: 4_098 });
    expect(await post('/servers/ollama/api/chat', { ...long, truncate: false })).toEqual({
      error: expect.stringContaining('the prompt is longer than the context length') as unknown,
    });
  });

  it('Ollama: a chat without messages loads the model, keep_alive 0 unloads it', async () => {
    const order = { model: 'llama3:latest', messages: [] };
    expect(await post('/servers/ollama/api/chat', order)).toMatchObject({ done_reason: 'load' });
    expect(await get('/servers/ollama/api/ps')).toMatchObject({ models: [{ name: 'llama3:latest' }] });
    expect(await post('/servers/ollama/api/chat', { ...order, keep_alive: 0 })).toMatchObject({ done_reason: 'unload' });
    expect(await get('/servers/ollama/api/ps')).toEqual({ models: [] });
  });

  it('LM Studio: both lists, loaded apart from trained', async () => {
    const base = simulator.servers['studio'] ?? '';
    const v0: unknown = await (await fetch(`${base}/api/v0/models`)).json();
    const v1: unknown = await (await fetch(`${base}/api/v1/models`)).json();
    expect(v0).toMatchObject({
      data: [
        { id: 'qwen', state: 'loaded', max_context_length: 262_144, loaded_context_length: 81_920 },
        { id: 'other', state: 'not-loaded' },
      ],
    });
    expect(v1).toMatchObject({
      models: [
        { key: 'qwen', loaded_instances: [{ config: { context_length: 81_920 } }], max_context_length: 262_144 },
        { loaded_instances: [] },
      ],
    });
  });

  it('vLLM and SGLang: a LoRA row has no window, and a KV pool may be smaller than the window', async () => {
    expect(await get('/servers/vllm/v1/models')).toMatchObject({
      data: [
        { id: 'base', max_model_len: 32_768, parent: null },
        { id: 'lora', max_model_len: null, parent: 'base' },
      ],
    });
    expect(await get('/servers/sglang/get_server_info')).toMatchObject({ context_length: 65_536, max_total_num_tokens: 20_000 });
  });

  it('llama.cpp: the window is per slot; a router wakes a model unless told not to', async () => {
    expect(await get('/servers/llama/props')).toMatchObject({ default_generation_settings: { n_ctx: 4_096 }, total_slots: 2 });
    expect(await get('/servers/llama/v1/models')).toMatchObject({ data: [{ meta: { n_ctx_train: 131_072 } }] });
    expect(await get('/servers/router/props')).toMatchObject({ default_generation_settings: { n_ctx: 0 } });
    expect(await get('/servers/router/models')).toMatchObject({
      data: [{ status: { value: 'unloaded', args: expect.arrayContaining(['-c', '8192']) as unknown } }],
    });
    await get('/servers/router/props?model=cold&autoload=false');
    expect(await get('/_simulator/state')).toMatchObject({
      servers: expect.arrayContaining([
        expect.objectContaining({ name: 'router', models: [expect.objectContaining({ loads: 0 })] }),
      ]) as unknown,
    });
    expect(await get('/servers/router/props?model=cold')).toMatchObject({ default_generation_settings: { n_ctx: 8_192 } });
  });

  it.each([
    ['/anthropic/v1/models', { data: [{ id: 'claude-sim', max_input_tokens: 200_000, max_tokens: 64_000 }] }],
    ['/gemini/v1beta/models', { models: [{ name: 'models/claude-sim', inputTokenLimit: 200_000, outputTokenLimit: 64_000 }] }],
    ['/mistral/v1/models', { data: [{ max_context_length: 200_000 }] }],
    ['/openrouter/api/v1/models', { data: [{ context_length: 200_000, top_provider: { max_completion_tokens: 64_000 } }] }],
    ['/backend-api/codex/models?client_version=1', { models: [{ slug: 'claude-sim', context_window: 200_000 }] }],
    ['/openai/v1/models', { data: [{ id: 'claude-sim', object: 'model' }] }],
  ])('the list at %s has the shape of its vendor', async (path, shape) => {
    expect(await get(path)).toMatchObject(shape);
  });

  it('at run time a window changes, a model unloads, a server goes down and comes back on its port', async () => {
    await post('/_simulator/model', { server: 'vllm', model: 'base', set: { window: 16_384 } });
    expect(await get('/servers/vllm/v1/models')).toMatchObject({ data: [{ max_model_len: 16_384 }, {}] });
    const base = simulator.servers['studio'] ?? '';
    await post('/_simulator/model', { server: 'studio', model: 'qwen', loaded: false });
    expect(await (await fetch(`${base}/api/v0/models`)).json()).toMatchObject({ data: [{ state: 'not-loaded' }, {}] });
    await post('/_simulator/server', { server: 'studio', set: { mode: 'down' } });
    await expect(fetch(`${base}/api/v0/models`)).rejects.toThrow();
    await post('/_simulator/server', { server: 'studio', set: { mode: 'up' } });
    expect((await fetch(`${base}/api/v0/models`)).status).toBe(200);
  });

  it.each([
    [{ mode: 'hostile', body: 'html' }, 'text/html'],
    [{ mode: 'hostile', body: 'wrong_types' }, 'application/json'],
    [{ mode: 'status', status: 500 }, 'application/json'],
  ])('a server answers as badly as ordered: %j', async (set, type) => {
    await post('/_simulator/server', { server: 'vllm', set });
    const response = await fetch(`${simulator.url}/servers/vllm/v1/models`);
    expect(response.headers.get('content-type')).toBe(type);
    if ('body' in set && set.body === 'wrong_types')
      expect(await response.json()).toMatchObject({ data: [{ max_model_len: '32768 tokens' }, {}] });
  });

  it('a wrong order names its faults', async () => {
    const response = await fetch(`${simulator.url}/_simulator/model`, {
      method: 'POST',
      body: JSON.stringify({ model: 'claude-sim', set: { window: 'large', faults: [{}] } }),
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: string };
    expect([error.includes('window'), error.includes('action')]).toEqual([true, true]);
  });
});
