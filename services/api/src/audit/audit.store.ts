import { Inject, Injectable } from '@nestjs/common';
import { Pool } from '@nightshift/db';
import { v7 } from 'uuid';
import type { Caller } from '../auth/keys';
import type { Json } from '../http/present';

/** Who did what, for the team's own eyes. Rows are only ever added. */
@Injectable()
export class AuditStore {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  /**
   * @param action `<thing>.<verb>`, for example `task.cancel`.
   * @param target id of what was acted on; empty when there is none.
   * @param detail never holds a secret or the text of a message.
   */
  async record(from: Caller, action: string, target: string, detail: { [key: string]: Json }): Promise<void> {
    await this.pool.query(
      `insert into audit_events (team_id, id, at_ms, key_id, action, target, detail)
       values ($1, $2, (extract(epoch from clock_timestamp()) * 1000)::bigint, $3, $4, $5, $6)`,
      [from.teamId, v7(), from.keyId, action, target, JSON.stringify(detail)],
    );
  }
}
