import { randomBytes } from 'node:crypto';
import { Controller, Inject } from '@nestjs/common';
import { AuditStore } from '../audit/audit.store';
import { From, Input, Serves, type InputOf } from '../http/endpoint';
import { keyOf, type Caller } from './keys';
import { keyEndpoints } from './keys.endpoints';
import { KeysStore, type KeyRow } from './keys.store';

@Controller()
export class KeysController {
  constructor(
    @Inject(KeysStore) private readonly keys: KeysStore,
    @Inject(AuditStore) private readonly audit: AuditStore,
  ) {}

  @Serves(keyEndpoints.create)
  async create(@Input(keyEndpoints.create) { body }: InputOf<typeof keyEndpoints.create>, @From() from: Caller): Promise<object> {
    const key = keyOf(randomBytes(32));
    const row = await this.keys.create(from.teamId, key, body.name, body.role);
    await this.audit.record(from, 'key.create', row.id, { name: row.name, role: row.role, prefix: row.prefix });
    return { ...row, key: key.token };
  }

  @Serves(keyEndpoints.list)
  async list(@From() from: Caller): Promise<{ keys: KeyRow[] }> {
    return { keys: await this.keys.list(from.teamId) };
  }

  @Serves(keyEndpoints.revoke)
  async revoke(@Input(keyEndpoints.revoke) { params }: InputOf<typeof keyEndpoints.revoke>, @From() from: Caller): Promise<void> {
    await this.keys.revoke(from.teamId, params.id);
    await this.audit.record(from, 'key.revoke', params.id, {});
  }
}
