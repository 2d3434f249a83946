import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually, startStack, type RunningStack, type StackOptions } from '@nightshift/testing';

/** The two scripted models that the end-to-end tests run on: a small window behind one format, a larger one behind the other. */
export const primary = 'simulator-anthropic/simulator-small';
export const fallback = 'simulator-openai/simulator-large';

export interface SmallTask {
  /** Tool calls of the script. */
  calls: number;
  tools?: string;
  chars?: number;
  parallel?: number;
  window?: number;
  fallbackWindow?: number;
  /** Fault rules of the primary model. */
  faults?: object[];
  latency?: object;
  /** How the models answer a request for a summary: `refusing`, `empty`, … (the simulator's `summaries` script). */
  summaries?: string;
}

/** A stack whose models run the `quick` script: so many real tool calls, then the criteria and finish. */
export function startSmallStack(task: SmallTask, options: StackOptions = {}): Promise<RunningStack> {
  const script = {
    ...(task.summaries ? { name: 'summaries', kind: task.summaries, otherwise: 'quick' } : { name: 'quick' }),
    calls: task.calls,
    tools: task.tools ?? '',
    chars: task.chars ?? 200,
    parallel: task.parallel ?? 1,
  };
  const window = task.window ?? 64_000;
  const fallbackWindow = task.fallbackWindow ?? 200_000;
  return startStack({
    simulator: {
      models: {
        'simulator-small': {
          format: 'anthropic',
          window,
          outputMax: 4_096,
          script,
          faults: task.faults ?? [],
          latency: task.latency ?? {},
        },
        'simulator-large': {
          format: 'openai-chat',
          window: fallbackWindow,
          outputMax: 8_192,
          script,
          latency: task.latency ?? {},
        },
      },
    },
    file: ({ base }) => `
providers:
  simulator-anthropic:
    vendor: anthropic-compatible
    base_url: ${base}/anthropic
    api_key_env: SIMULATOR_KEY
    models: { simulator-small: { window: ${window}, output_max: 4096 } }
  simulator-openai:
    vendor: openai-compatible
    base_url: ${base}/openai/v1
    api_key_env: SIMULATOR_KEY
    models: { simulator-large: { window: ${fallbackWindow}, output_max: 8192 } }
chains:
  default: [${primary}, ${fallback}]
`,
    ...options,
    env: {
      ...options.env,
      'provider-gateway': { SIMULATOR_KEY: 'simulator-needs-no-secret', ...options.env?.['provider-gateway'] },
    },
  });
}

export interface Task {
  id: string;
  state: string;
  reason: string;
  generation: number;
  thresholdHits: number;
  toolCalls: number;
  criteria: { done: boolean; evidence: string }[];
  model: string;
  result: string;
}
export interface TaskEvent {
  seq: number;
  kind: string;
  data: Record<string, unknown>;
}

const ended = ['completed', 'failed', 'cancelled'];

/** A directory that tasks may work in. */
export function makeWorkspace(stack: RunningStack, name: string): string {
  const directory = path.join(stack.folder, 'repositories', name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'AGENTS.md'), 'Keep it small.\n');
  return directory;
}

export async function submit(stack: RunningStack, body: object): Promise<Task> {
  const { status, body: answer } = await stack.api('POST', '/v1/tasks', body);
  if (status !== 202) throw new Error(`POST /v1/tasks: ${status} ${JSON.stringify(answer)}`);
  return answer as Task;
}

export async function taskOf(stack: RunningStack, id: string): Promise<Task> {
  return (await stack.api('GET', `/v1/tasks/${id}`)).body as Task;
}

export function untilEnded(stack: RunningStack, id: string, timeoutMs = 120_000): Promise<Task> {
  return eventually(
    async () => {
      const task = await taskOf(stack, id);
      if (!ended.includes(task.state)) throw new Error(`the task is ${task.state}: ${JSON.stringify(task)}`);
      return task;
    },
    { timeoutMs, everyMs: 200 },
  );
}

/** The whole event stream of an ended task, as a reader of SSE gets it. */
export async function eventsOf(stack: RunningStack, id: string): Promise<TaskEvent[]> {
  const response = await fetch(`${stack.apiUrl}/v1/tasks/${id}/events?after=0`, {
    headers: { authorization: `Bearer ${stack.adminKey}` },
    signal: AbortSignal.timeout(20_000),
  });
  const events: TaskEvent[] = [];
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString('utf8');
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      const id = /^id: (\d+)$/m.exec(block)?.[1];
      if (data && id) events.push(JSON.parse(data) as TaskEvent);
    }
    if (events.some(({ kind, data }) => kind === 'state_changed' && ended.includes(String(data.state ?? data.to)))) break;
  }
  return events;
}
