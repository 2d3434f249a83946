import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { objectOf, textOf, type JsonObject } from '../../json';
import { startSimulator, type Simulator } from '../../server/simulator';

interface Call {
  id: string;
  name: string;
  args: JsonObject;
}
type Entry =
  | { role: 'user'; texts: string[] }
  | { role: 'assistant'; text: string; calls: Call[] }
  | { role: 'results'; results: { id: string; name: string; text: string; isError: boolean }[] };

const headings = [
  'Requests and intent',
  'Key technical concepts',
  'Files and code',
  'Errors and fixes',
  'Problem solving',
  'All user messages',
  'Pending tasks',
  'Current work',
  'Next step',
];
const instruction = `Summarise the conversation above in at most 3000 tokens, under exactly these headings:\n${headings.map((title, index) => `${index + 1}. ${title}`).join('\n')}`;
const toolNames = [
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'search_files',
  'run_command',
  'update_plan',
  'set_goal',
  'mark_criterion',
  'restore_tool_result',
  'finish',
];

/** The smallest agent that a script can drive: real tools on a directory, compaction by summary, and a second model after a 429. */
class Agent {
  entries: Entry[] = [{ role: 'user', texts: ['Make an inventory of this repository.'] }];
  plan: { text: string; state: string }[] = [];
  criteria: { id: string; text: string; done: boolean }[] = [];
  stored = new Map<string, string>();
  compactions = 0;
  restores = 0;
  calls = 0;
  input = 0;
  fallback = false;
  finished: string | undefined;
  parallel = 0;

  constructor(
    private readonly url: string,
    private readonly directory: string,
    private readonly threshold: () => number,
  ) {}

  async run(): Promise<void> {
    for (let step = 0; step < 400 && this.finished === undefined; step++) {
      if (this.input > this.threshold()) await this.compact();
      const answer = await this.complete(this.entries);
      this.entries.push({ role: 'assistant', ...answer });
      if (answer.calls.length > 1) this.parallel++;
      if (answer.calls.length === 0) throw new Error(`no call: ${answer.text}`);
      const results = answer.calls.map((call) => ({ id: call.id, name: call.name, ...this.execute(call) }));
      this.entries.push({ role: 'results', results });
    }
  }

  private async compact(): Promise<void> {
    const { text } = await this.complete([...this.entries, { role: 'user', texts: [instruction] }]);
    for (const heading of headings) expect(text).toContain(heading);
    for (const entry of this.entries)
      if (entry.role === 'results') for (const result of entry.results) this.stored.set(result.id, result.text);
    const block = `[goal]\n${this.criteria.map(({ id, text: words, done }) => `[${done ? 'x' : ' '}] ${id}: ${words}`).join('\n')}`;
    const plan = `[plan]\n${this.plan.map((item) => `[${item.state === 'done' ? 'x' : item.state === 'doing' ? '>' : ' '}] ${item.text}`).join('\n')}`;
    const tail = this.entries.slice(-2);
    this.entries = [
      { role: 'user', texts: ['Make an inventory of this repository.', `Summary of what is hidden:\n\n${text}`, block, plan] },
      ...tail,
    ];
    this.compactions++;
    this.input = 0;
  }

  private async complete(entries: Entry[]): Promise<{ text: string; calls: Call[] }> {
    const { path, body } = this.fallback ? chatRequest(entries) : anthropicRequest(entries);
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': 'test', authorization: 'Bearer test', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    });
    const json = (await response.json()) as JsonObject;
    if (response.status === 429) {
      this.fallback = true;
      return this.complete(entries);
    }
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(json)}`);
    const usage = objectOf(json['usage']) as Record<string, number>;
    this.input = this.fallback
      ? (usage['prompt_tokens'] ?? 0)
      : (usage['input_tokens'] ?? 0) + (usage['cache_read_input_tokens'] ?? 0) + (usage['cache_creation_input_tokens'] ?? 0);
    return this.fallback ? chatAnswer(json) : anthropicAnswer(json);
  }

  private execute(call: Call): { text: string; isError: boolean } {
    this.calls++;
    try {
      return { text: this.perform(call), isError: false };
    } catch (error) {
      return { text: (error as Error).message, isError: true };
    }
  }

  private perform({ name, args }: Call): string {
    const path = join(this.directory, textOf(args['path']));
    switch (name) {
      case 'read_file':
        return readFileSync(path, 'utf8');
      case 'write_file':
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, textOf(args['content']));
        return 'written';
      case 'edit_file': {
        const before = readFileSync(path, 'utf8');
        if (before.split(textOf(args['old_text'])).length !== 2) throw new Error('old_text does not occur exactly once');
        writeFileSync(
          path,
          before.replace(textOf(args['old_text']), () => textOf(args['new_text'])),
        );
        return 'edited';
      }
      case 'list_files':
        return readdirSync(path)
          .map((entry) => (statSync(join(path, entry)).isDirectory() ? `${entry}/` : `${entry} 1`))
          .join('\n');
      case 'search_files':
        return spawnSync('grep', ['-rnE', textOf(args['pattern']), textOf(args['path']) || '.'], {
          cwd: this.directory,
          encoding: 'utf8',
        }).stdout.slice(0, 5000);
      case 'run_command': {
        const run = spawnSync('bash', ['-c', textOf(args['command'])], { cwd: this.directory, encoding: 'utf8' });
        const text = `${run.stdout}${run.stderr}[exit code ${run.status}]`;
        if (run.status !== 0) throw new Error(text);
        return text;
      }
      case 'update_plan':
        this.plan = args['items'] as typeof this.plan;
        return 'Plan saved.';
      case 'set_goal':
        this.criteria = (args['criteria'] as string[]).map((text, index) => ({ id: `c${index + 1}`, text, done: false }));
        return `Criteria:\n${this.criteria.map(({ id, text }) => `[ ] ${id}: ${text}`).join('\n')}`;
      case 'mark_criterion': {
        const criterion = this.criteria.find(({ id }) => id === args['id']);
        if (criterion === undefined) throw new Error('no such criterion');
        criterion.done = true;
        return `Criterion ${criterion.id} is done.`;
      }
      case 'restore_tool_result': {
        const text = this.stored.get(textOf(args['id']));
        if (text === undefined) throw new Error('nothing is stored under this id');
        this.restores++;
        return text;
      }
      case 'finish':
        if (this.criteria.some(({ done }) => !done)) throw new Error('criteria are open');
        this.finished = textOf(args['result']);
        return 'Finished.';
      default:
        throw new Error(`no tool ${name}`);
    }
  }
}

function anthropicRequest(entries: Entry[]): { path: string; body: JsonObject } {
  const messages: { role: string; content: unknown[] }[] = [];
  for (const entry of entries) {
    const role = entry.role === 'assistant' ? 'assistant' : 'user';
    const content =
      entry.role === 'user'
        ? entry.texts.map((text) => ({ type: 'text', text }))
        : entry.role === 'assistant'
          ? [
              { type: 'text', text: entry.text },
              ...entry.calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: call.args })),
            ]
          : entry.results.map((result) => ({
              type: 'tool_result',
              tool_use_id: result.id,
              content: result.text,
              is_error: result.isError,
            }));
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  const tools = toolNames.map((name) => ({ name, description: name, input_schema: { type: 'object' } }));
  return {
    path: '/anthropic/v1/messages',
    body: { model: 'sim-primary', max_tokens: 4096, cache_control: { type: 'ephemeral' }, tools, messages },
  };
}

function anthropicAnswer(json: JsonObject): { text: string; calls: Call[] } {
  const blocks = json['content'] as JsonObject[];
  return {
    text: blocks.map((block) => textOf(block['text'])).join(''),
    calls: blocks
      .filter((block) => block['type'] === 'tool_use')
      .map((block) => ({ id: textOf(block['id']), name: textOf(block['name']), args: objectOf(block['input']) })),
  };
}

function chatRequest(entries: Entry[]): { path: string; body: JsonObject } {
  const messages = entries.flatMap((entry): JsonObject[] => {
    if (entry.role === 'user') return [{ role: 'user', content: entry.texts.map((text) => ({ type: 'text', text })) }];
    if (entry.role === 'results')
      return entry.results.map((result) => ({ role: 'tool', tool_call_id: result.id, content: result.text }));
    const tool_calls = entry.calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.args) },
    }));
    return [{ role: 'assistant', content: entry.text, ...(tool_calls.length > 0 ? { tool_calls } : {}) }];
  });
  const tools = toolNames.map((name) => ({
    type: 'function',
    function: { name, description: name, parameters: { type: 'object' } },
  }));
  return { path: '/openai/v1/chat/completions', body: { model: 'sim-fallback', tools, messages } };
}

function chatAnswer(json: JsonObject): { text: string; calls: Call[] } {
  const message = objectOf(objectOf((json['choices'] as unknown[])[0])['message']);
  const calls = ((message['tool_calls'] as JsonObject[] | undefined) ?? []).map((call) => {
    const fn = objectOf(call['function']);
    return { id: textOf(call['id']), name: textOf(fn['name']), args: JSON.parse(textOf(fn['arguments'])) as JsonObject };
  });
  return { text: textOf(message['content']), calls };
}

const repository = join(__dirname, '../../../../..');

describe('the sample job', () => {
  let directory: string;
  let simulator: Simulator;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'simulator-sample-'));
    const files = execFileSync('git', ['ls-files', 'libs', 'services', 'scripts', 'proto'], {
      cwd: repository,
      encoding: 'utf8',
    }).split('\n');
    for (const file of files.filter((name) => name !== '' && existsSync(join(repository, name))))
      cpSync(join(repository, file), join(directory, file));
    execFileSync('git', ['init', '-q'], { cwd: directory });
    simulator = await startSimulator({
      config: {
        models: {
          'sim-primary': {
            format: 'anthropic',
            window: 32_768,
            outputMax: 8_192,
            script: { name: 'sample', files: 27, largestBytes: 9_000 },
            faults: [
              {
                when: { afterSummaries: 2, summary: false },
                times: 'always',
                action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: 3600 } },
              },
            ],
          },
          'sim-fallback': { format: 'openai-chat', window: 200_000, script: { name: 'sample', files: 27, largestBytes: 9_000 } },
        },
      },
    });
  });

  afterAll(async () => {
    await simulator.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is done over two compactions and a change of model, with real effects, and never breaks a rule of the vendors', async () => {
    const agent: Agent = new Agent(simulator.url, directory, () => (agent.fallback ? 100_000 : 16_384));
    await agent.run();
    const table = readFileSync(join(directory, 'INVENTORY.md'), 'utf8');
    const lines = simulator.requests();
    const listed = readFileSync(join(directory, '.inventory/files.txt'), 'utf8').trim().split('\n').length;
    expect({
      finished: agent.finished !== undefined,
      open: agent.criteria.filter(({ done }) => !done).length,
      enoughCalls: agent.calls >= 60,
      enoughCompactions: agent.compactions >= 2,
      restored: agent.restores >= 1,
      parallel: agent.parallel >= 5,
      fallback: agent.fallback,
      refused: lines.filter((line) => line.refused !== undefined).map((line) => line.refused),
      identical: readFileSync(join(directory, '.inventory/restored.txt'), 'utf8').length > 0,
      rows: table.match(/^\| .* \| [0-9a-f]{64} \|$/gm)?.length,
      planOpen: agent.plan.filter(({ state }) => state !== 'done').map(({ text }) => text),
    }).toEqual({
      finished: true,
      open: 0,
      enoughCalls: true,
      enoughCompactions: true,
      restored: true,
      parallel: true,
      fallback: true,
      refused: [],
      identical: true,
      rows: listed,
      planOpen: ['Close: mark the criteria and finish'],
    });
    expect(agent.finished).toContain(`ALL ${listed} ROWS MATCH`);
  });

  it('answers the same transcript with the same move, however often it is asked', async () => {
    const ask = async (): Promise<unknown> => {
      const { path, body } = anthropicRequest([{ role: 'user', texts: ['Make an inventory.'] }]);
      const fresh = { ...body, model: 'sim-again' };
      const response = await fetch(`${again.url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': 'k' },
        body: JSON.stringify(fresh),
      });
      return objectOf(await response.json())['content'];
    };
    const again = await startSimulator({ config: { models: { 'sim-again': { script: 'sample' } } } });
    try {
      expect(await ask()).toEqual(await ask());
    } finally {
      await again.stop();
    }
  });
});
