import { Controller, Inject } from '@nestjs/common';
import { routes } from '@nightshift/contracts';
import { AuditStore } from '../audit/audit.store';
import type { Caller } from '../auth/keys';
import { From, Input, Serves, type InputOf } from '../http/endpoint';
import type { Json } from '../http/present';
import { TaskCalls } from '../tasks/task-calls';
import { modelEndpoints as endpoints } from './models.endpoints';

type Shown = { [key: string]: Json };

@Controller()
export class ModelsController {
  constructor(
    @Inject(TaskCalls) private readonly calls: TaskCalls,
    @Inject(AuditStore) private readonly audit: AuditStore,
  ) {}

  @Serves(endpoints.list)
  list(@Input(endpoints.list) { query }: InputOf<typeof endpoints.list>, @From() from: Caller): Promise<Shown> {
    return this.calls.show(routes.windowList, from, { refresh: query.refresh, provider: query.provider ?? '' });
  }

  @Serves(endpoints.override)
  async override(@Input(endpoints.override) { body }: InputOf<typeof endpoints.override>, @From() from: Caller): Promise<Shown> {
    const reply = await this.calls.show(routes.windowOverride, from, body);
    await this.audit.record(from, 'model.override', `${body.provider}/${body.model}`, { ...body });
    return reply;
  }

  @Serves(endpoints.providers)
  providers(@From() from: Caller): Promise<Shown> {
    return this.calls.show(routes.providerStatus, from, {});
  }
}
