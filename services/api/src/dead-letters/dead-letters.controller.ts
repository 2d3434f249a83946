import { Controller, Inject } from '@nestjs/common';
import { deadletter, NightshiftError, routes } from '@nightshift/contracts';
import { AuditStore } from '../audit/audit.store';
import type { Caller } from '../auth/keys';
import { From, Input, Serves, type InputOf } from '../http/endpoint';
import { present, type Json } from '../http/present';
import { TaskCalls } from '../tasks/task-calls';
import { deadLetterEndpoints as endpoints } from './dead-letters.endpoints';

type Shown = { [key: string]: Json };

@Controller()
export class DeadLettersController {
  constructor(
    @Inject(TaskCalls) private readonly calls: TaskCalls,
    @Inject(AuditStore) private readonly audit: AuditStore,
  ) {}

  @Serves(endpoints.list)
  list(@Input(endpoints.list) { query }: InputOf<typeof endpoints.list>, @From() from: Caller): Promise<Shown> {
    return this.calls.show(routes.deadletterList, from, { limit: query.limit, state: query.state ?? '' });
  }

  @Serves(endpoints.retry)
  retry(@Input(endpoints.retry) { params }: InputOf<typeof endpoints.retry>, @From() from: Caller): Promise<Shown> {
    return this.resolve(from, params.id, 'retry');
  }

  @Serves(endpoints.discard)
  discard(@Input(endpoints.discard) { params }: InputOf<typeof endpoints.discard>, @From() from: Caller): Promise<Shown> {
    return this.resolve(from, params.id, 'discard');
  }

  private async resolve(from: Caller, id: string, action: 'retry' | 'discard'): Promise<Shown> {
    const reply = await this.calls.ask(routes.deadletterResolve, from, { id, action });
    if (!reply.deadLetter) throw new NightshiftError('NOT_FOUND', `there is no dead letter ${id}`);
    await this.audit.record(from, `dead_letter.${action}`, id, {});
    return present(deadletter.DeadLetterSchema, reply.deadLetter);
  }
}
