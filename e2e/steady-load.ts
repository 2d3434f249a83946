import { Api } from '@nightshift/cli';
import { NightshiftError } from '@nightshift/contracts';
import type { RunningStack } from '@nightshift/testing';
import type { Fleet } from './fleet';
import { makeWorkspace, type Task } from './small-task';

/** What a client of the API saw that it should not have seen. */
export interface Trouble {
  readonly what: string;
  readonly error: string;
}

const compactAfterCalls = 9;

/** Tasks that are always running, and clients that read, follow and submit them the whole time, through the load balancer. */
export class SteadyLoad {
  readonly troubles: Trouble[] = [];
  readonly tasks: string[] = [];
  /** Task → numbers of the events that its follower was shown, over all its connections. */
  readonly followed = new Map<string, number[]>();
  requests = 0;
  reconnects = 0;
  /** Compaction passes that ended. */
  passes = 0;
  private stopping = false;
  private readonly running: Promise<void>[] = [];
  private readonly api: Api;

  constructor(
    private readonly stack: RunningStack,
    fleet: Fleet,
  ) {
    this.api = new Api({
      key: () => stack.adminKey,
      get url() {
        return fleet.balance();
      },
    });
  }

  start(tasksAtOnce: number, readers: number): void {
    for (let n = 0; n < tasksAtOnce; n++) this.running.push(this.oneAfterTheOther());
    for (let n = 0; n < readers; n++) this.running.push(this.read());
  }

  /** No new tasks; resolves when those under way have ended. */
  async end(): Promise<Task[]> {
    this.stopping = true;
    for (let waited = 0; waited < this.running.length; ) await Promise.all(this.running.slice(0, (waited = this.running.length)));
    return Promise.all(this.tasks.map((id) => this.api.get<Task>(`/v1/tasks/${id}`)));
  }

  get<T>(path: string): Promise<T> {
    return this.api.get<T>(path);
  }

  private async oneAfterTheOther(): Promise<void> {
    while (!this.stopping) {
      const directory = makeWorkspace(this.stack, `load-${this.requests}-${this.running.length}-${this.tasks.length}`);
      const body = { goal: 'Go on.', criteria: ['done'], workspace: { directory, mode: 'in_place' } };
      const task = await this.noting('POST /v1/tasks', () => this.api.post<Task>('/v1/tasks', body));
      if (!task) continue;
      this.tasks.push(task.id);
      await this.follow(task.id);
    }
  }

  /** As the command line follows: a stream that ends without the end of its task is taken up where it was left. */
  private async follow(id: string): Promise<void> {
    const seen: number[] = [];
    this.followed.set(id, seen);
    let calls = 0;
    for (let connections = 0; ; connections++) {
      if (connections > 0) this.reconnects++;
      let ended = false;
      await this.noting(`events of ${id}`, () =>
        this.api.events(`/v1/tasks/${id}/events`, { query: { after: seen.at(-1) ?? 0 } }, ({ event, data, id: seq }) => {
          if (event === 'task') {
            seen.push(Number(seq));
            const { kind } = JSON.parse(data) as { kind: string };
            if (kind === 'compaction_finished') this.passes++;
            // Once, in the middle: the script counts the calls that it sees.
            if (kind === 'tool_finished' && ++calls === compactAfterCalls) this.running.push(this.compact(id));
          }
          if (event === 'end') ended = true;
          if (event === 'error') this.troubles.push({ what: `stream of ${id}`, error: data });
        }),
      );
      if (ended) return;
    }
  }

  private async compact(id: string): Promise<void> {
    await this.noting(`POST compact ${id}`, () => this.api.post(`/v1/tasks/${id}/compact`));
  }

  private async read(): Promise<void> {
    while (!this.stopping) {
      const id = this.tasks.at(-1);
      const paths = [
        '/v1/tasks?limit=5',
        '/v1/models',
        '/v1/providers',
        ...(id ? [`/v1/tasks/${id}`, `/v1/tasks/${id}/tool-calls`] : []),
      ];
      for (const path of paths) await this.noting(`GET ${path}`, () => this.api.get(path));
    }
  }

  private async noting<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    this.requests++;
    try {
      return await call();
    } catch (thrown) {
      this.troubles.push({ what, error: describe(thrown) });
      return undefined;
    }
  }
}

function describe(thrown: unknown): string {
  const { message, cause } = NightshiftError.from(thrown);
  const reasons = [message];
  for (let at: unknown = cause; at instanceof Error; at = at.cause) reasons.push(at.message);
  return reasons.join(' < ');
}
