import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { task, transcript } from '@nightshift/contracts';
import type { Pool } from '@nightshift/db';
import { eventually, startStack, type RunningStack } from '@nightshift/testing';
import { makeWorkspace, submit } from './small-task';
import type { CrashPoint } from './crash-plan';

/**
 * wide: never compacted by itself; tight: two or three passes by summary; refused: its model refuses summaries; wordy: so does
 * this one, and what it says itself is what fills the window, so that a pass goes down to the last tier.
 */
export type Kind = 'wide' | 'tight' | 'refused' | 'wordy';
/** Three in a round: a command that appends, a write, a read. */
const calls = 18;
const noiseChars = 12_000;
const windows: Readonly<Record<Kind, number>> = { wide: 200_000, tight: 32_000, refused: 32_000, wordy: 32_000 };
export const kinds = Object.keys(windows) as Kind[];

export interface LoadedTask {
  readonly id: string;
  readonly kind: Kind;
  readonly directory: string;
  cancelled: boolean;
  paused: boolean;
}

/** One round of a transcript as both runs must have it: what was called, and what came back. */
export interface Round {
  readonly call: string;
  readonly result: string;
}
export interface Work {
  readonly rounds: readonly Round[];
  /** Calls whose outcome was unknown. */
  readonly unknown: readonly string[];
}

export function startCrashStack(environment: Record<string, string>): Promise<RunningStack> {
  const scripts: Readonly<Record<Kind, object>> = {
    wide: { name: 'marks', calls },
    tight: { name: 'marks', calls, chars: noiseChars },
    refused: { name: 'summaries', kind: 'refusing', otherwise: 'marks', calls, chars: noiseChars },
    wordy: { name: 'summaries', kind: 'refusing', otherwise: 'marks', calls, chars: noiseChars, wordy: true },
  };
  return startStack({
    simulator: {
      models: Object.fromEntries(
        kinds.map((kind) => [kind, { format: 'anthropic', window: windows[kind], outputMax: 4_096, script: scripts[kind] }]),
      ),
    },
    file: ({ base }) => `
providers:
  sim:
    vendor: anthropic-compatible
    base_url: ${base}/anthropic
    api_key_env: SIMULATOR_KEY
    max_concurrency: 256
    models: { ${kinds.map((kind) => `${kind}: { window: ${windows[kind]}, output_max: 4096 }`).join(', ')} }
chains:
  default: [sim/wide]
`,
    env: { all: { LOG_LEVEL: 'warn', ...environment }, 'provider-gateway': { SIMULATOR_KEY: 'simulator-needs-no-secret' } },
  });
}

/** Many tasks of the same script at once, and what became of them. */
export class CrashLoad {
  readonly tasks: LoadedTask[] = [];
  private turn = 0;

  constructor(
    private readonly stack: RunningStack,
    private readonly pool: Pool,
  ) {}

  /** Time to the first token of every model from now on: how long the load lasts without costing more. */
  async latency(firstTokenMs: number): Promise<void> {
    for (const model of kinds) {
      const response = await fetch(`${this.stack.simulator.base}/_simulator/model`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, set: { latency: { firstTokenMs } } }),
      });
      if (!response.ok) throw new Error(`the simulator: ${response.status} ${await response.text()}`);
    }
  }

  async start(name: string, kind: Kind): Promise<LoadedTask> {
    const directory = makeWorkspace(this.stack, name);
    const body = { goal: 'Leave every mark once.', models: [`sim/${kind}`], workspace: { directory, mode: 'in_place' } };
    const started = { id: (await submit(this.stack, body)).id, kind, directory, cancelled: false, paused: false };
    this.tasks.push(started);
    return started;
  }

  /** Makes some running tasks pass a point. What the API cannot do at this moment is asked for again by the caller. */
  async trigger({ trigger, kind }: Pick<CrashPoint, 'trigger' | 'kind'>): Promise<void> {
    if (trigger === 'work') return;
    const states = await this.states();
    // A task that was paused before goes on by a command, the one way for a step to begin in the middle of a load.
    if (trigger === 'pause') await this.resume(states);
    const suits = (one: Kind): boolean => (kind ? one === kind : (one === 'wide') === (trigger !== 'compact'));
    const active = [task.TaskState.RUNNING, task.TaskState.WAITING];
    const suited = this.tasks.filter((each) => suits(each.kind) && !each.cancelled && active.includes(states.get(each.id) ?? 0));
    const chosen = Array.from({ length: Math.min(4, suited.length) }, () => suited[this.turn++ % suited.length]);
    await Promise.all(
      chosen.map(async (each) => {
        if (!each) return;
        if (trigger === 'cancel') each.cancelled = true;
        if (trigger === 'pause') each.paused = true;
        const route = { compact: 'compact', message: 'messages', cancel: 'cancel', pause: 'pause' }[trigger];
        const body = trigger === 'message' ? { text: 'Go on as before.' } : {};
        await this.stack.api('POST', `/v1/tasks/${each.id}/${route}`, body).catch(() => undefined);
      }),
    );
  }

  /** Only what the load itself has paused: a task that the platform pauses is lost. */
  private async resume(states: ReadonlyMap<string, number>): Promise<void> {
    for (const { id } of this.tasks.filter((each) => each.paused && states.get(each.id) === task.TaskState.PAUSED))
      await this.stack.api('POST', `/v1/tasks/${id}/resume`, {}).catch(() => undefined);
  }

  /** Until every task has ended. */
  async ended(timeoutMs: number): Promise<void> {
    await eventually(
      async () => {
        const states = await this.states();
        await this.resume(states);
        const open = this.tasks.filter(({ id }) => !endStates.includes(states.get(id) ?? 0));
        if (open.length === 0) return true;
        const shown = open
          .slice(0, 5)
          .map(async (one) => `${one.id} (${one.kind}) ${task.TaskState[states.get(one.id) ?? 0]}: ${await this.reasonOf(one)}`);
        throw new Error(`${open.length} tasks have not ended: ${(await Promise.all(shown)).join(', ')}`);
      },
      { timeoutMs, everyMs: 500 },
    );
  }

  async states(): Promise<Map<string, number>> {
    const { rows } = await this.pool.query<{ id: string; state: number }>('SELECT id, state FROM tasks');
    return new Map(rows.map(({ id, state }) => [id, state]));
  }

  /** Why a task is in the state it is in. */
  async reasonOf({ id }: LoadedTask): Promise<string> {
    const { rows } = await this.pool.query<{ reason: string }>('SELECT reason FROM tasks WHERE id = $1', [id]);
    return rows[0]?.reason ?? 'there is no such task';
  }

  /** The transcript in rounds, without what an unknown outcome makes the model do in addition. */
  async work({ id, directory }: LoadedTask): Promise<Work> {
    const { rows } = await this.pool.query<{ body: Buffer }>('SELECT body FROM task_entries WHERE task_id = $1 ORDER BY seq', [
      id,
    ]);
    const entries = rows.map(({ body }) => fromBinary(transcript.EntrySchema, body).body);
    const results = new Map<string, string>();
    for (const entry of entries)
      if (entry.case === 'toolResult') results.set(entry.value.callId, settled(entry.value, directory));
    const rounds: Round[] = [];
    const unknown: string[] = [];
    for (const entry of entries) {
      if (entry.case !== 'assistant') continue;
      for (const block of entry.value.blocks) {
        if (block.kind.case !== 'toolCall') continue;
        const { id: callId, name, argumentsJson } = block.kind.value;
        const call = `${name} ${argumentsJson}`;
        const result = results.get(callId) ?? 'NO RESULT';
        if (call.includes('"marks.txt"')) continue;
        if (/outcome is unknown/i.test(result)) unknown.push(call);
        else rounds.push({ call, result });
      }
    }
    return { rounds, unknown };
  }
}

const endStates = [task.TaskState.COMPLETED, task.TaskState.FAILED, task.TaskState.CANCELLED];

/** What a result says, less what differs between two runs of the same thing. */
function settled(result: transcript.ToolResult, directory: string): string {
  return textOf(result)
    .replaceAll(directory, '<workspace>')
    .replace(/\br[0-9a-f]{24}\b/g, '<stored>')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/ after \d+\.\d s\]/g, ' after some time]');
}

function textOf(result: transcript.ToolResult): string {
  return result.parts.map(({ kind }) => (kind.case === 'text' ? kind.value : `[${kind.case}]`)).join('\n');
}

/** Marks in the order in which the commands left them. */
export function marksOf({ directory }: LoadedTask): string[] {
  try {
    return readFileSync(path.join(directory, 'marks.txt'), 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    // Cancelled before its first command.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Every file of a workspace with the hash of its content, in the order of their names. */
export function filesOf({ directory }: LoadedTask): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort()
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(path.join(directory, name)))
          .digest('hex')
          .slice(0, 16)}`,
    );
}
