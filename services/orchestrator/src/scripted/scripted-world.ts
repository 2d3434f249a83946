import { startService } from '@nightshift/bus';
import type { RunningService } from '@nightshift/bus';
import { routes, task } from '@nightshift/contracts';
import { serviceOptions } from '../service-options';
import { ScriptedCompactor } from './scripted-compactor';
import { publishWindows, startGateway, startRunner, startScripted } from './scripted-services';

export const team = { team: 'acme' };

/** The orchestrator of a spec with everybody it talks to, on real servers. */
export class ScriptedWorld {
  orchestrator!: RunningService;
  private readonly others: RunningService[] = [];

  async start(natsUrl: string, databaseUrl: string, env: Record<string, string> = {}): Promise<void> {
    this.orchestrator = await startOrchestrator(natsUrl, databaseUrl, env);
    await publishWindows(this.orchestrator, { 'sim/primary': 200_000, 'sim/small': 16_384 });
    this.others.push(await startGateway(natsUrl));
    this.others.push(await startRunner(natsUrl));
    this.others.push(await startScripted(natsUrl, 'compactor', [ScriptedCompactor]));
  }

  async stop(): Promise<void> {
    await Promise.all(this.others.map((service) => service.stop()));
    await this.orchestrator?.stop();
  }

  async create(over: Partial<Omit<task.CreateRequest, '$typeName'>> = {}): Promise<task.Task> {
    const reply = await this.orchestrator.bus.request(
      routes.taskCreate,
      {
        goal: 'Add a health check',
        chain: [{ provider: 'sim', model: 'primary' }],
        workspace: { directory: '/repos/app', mode: 'copy' },
        ...over,
      },
      team,
    );
    return present(reply.task);
  }

  async get(taskId: string): Promise<task.Task> {
    return present((await this.orchestrator.bus.request(routes.taskGet, { taskId }, team)).task);
  }

  send(taskId: string, text: string): Promise<task.SendReply> {
    return this.orchestrator.bus.request(routes.taskSend, { taskId, parts: [{ kind: { case: 'text', value: text } }] }, team);
  }

  async kinds(taskId: string): Promise<string[]> {
    const { events } = await this.orchestrator.bus.request(routes.taskEvents, { taskId, limit: 2_000 }, team);
    return events.map(({ kind }) => kind);
  }

  /** Throws with the present state unless it is the wanted one: made for `eventually`. */
  async expectState(taskId: string, state: task.TaskState): Promise<task.Task> {
    const current = await this.get(taskId);
    if (current.state !== state)
      throw new Error(`state ${task.TaskState[current.state]}, pending ${task.Pending[current.pending]}: ${current.reason}`);
    return current;
  }
}

export function startOrchestrator(
  natsUrl: string,
  databaseUrl: string,
  env: Record<string, string> = {},
): Promise<RunningService> {
  return startService(
    serviceOptions({
      NATS_URL: natsUrl,
      DATABASE_URL: databaseUrl,
      LOG_LEVEL: 'error',
      METRICS_PORT: '0',
      LEASE_MS: '1500',
      ACK_WAIT_MS: '5000',
      SHUTDOWN_GRACE_MS: '1000',
      ...env,
    }),
  );
}

function present(found: task.Task | undefined): task.Task {
  if (!found) throw new Error('a reply without its task');
  return found;
}
