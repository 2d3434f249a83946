import { Inject, Injectable } from '@nestjs/common';
import { NightshiftError } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import { v7 } from 'uuid';
import type { Caller, NewKey, Role } from './keys';

/** The team of a fresh installation; the bootstrap key belongs to it. */
export const firstTeam = 'default';
/** Name of the key that the installation itself holds; replaced as a whole when it is lost. */
export const bootstrapName = 'bootstrap';

/** A key as it may be shown. Times in milliseconds. */
export interface KeyRow {
  id: string;
  name: string;
  prefix: string;
  role: Role;
  createdAtMs: number;
  lastUsedAtMs: number;
  revokedAtMs: number;
}

const columns = `id, name, prefix, role, created_at_ms as "createdAtMs", last_used_at_ms as "lastUsedAtMs",
  revoked_at_ms as "revokedAtMs"`;
const lastUsedGrainMs = 60_000;
const nowMs = `(extract(epoch from clock_timestamp()) * 1000)::bigint`;

@Injectable()
export class KeysStore {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  /** Who the hash belongs to; undefined for an unknown or revoked key. The one lookup that cannot name a team. */
  async callerOf(hash: string): Promise<Caller | undefined> {
    const found = await this.pool.query<Caller & { stale: boolean }>({
      name: 'api-key-by-hash',
      text: `select team_id as "teamId", id as "keyId", role, last_used_at_ms < ${nowMs} - ${lastUsedGrainMs} as stale
             from api_keys where hash = $1 and revoked_at_ms = 0`,
      values: [hash],
    });
    const row = found.rows[0];
    if (!row) return undefined;
    const caller = { teamId: row.teamId, keyId: row.keyId, role: row.role };
    // Once a minute at most: a write per request would make the key's row the hottest of the database.
    if (row.stale) {
      await this.pool.query(`update api_keys set last_used_at_ms = ${nowMs} where team_id = $1 and id = $2`, [
        caller.teamId,
        caller.keyId,
      ]);
    }
    return caller;
  }

  async create(teamId: string, key: NewKey, name: string, role: Role): Promise<KeyRow> {
    const made = await this.pool.query<KeyRow>(
      `insert into api_keys (team_id, id, name, prefix, hash, role, created_at_ms)
       values ($1, $2, $3, $4, $5, $6, ${nowMs}) returning ${columns}`,
      [teamId, v7(), name, key.prefix, key.hash, role],
    );
    return made.rows[0]!;
  }

  /** Newest first, revoked ones included. */
  async list(teamId: string): Promise<KeyRow[]> {
    const found = await this.pool.query<KeyRow>(`select ${columns} from api_keys where team_id = $1 order by id desc`, [teamId]);
    return found.rows;
  }

  /** @throws NightshiftError NOT_FOUND for a key that the team does not have. */
  async revoke(teamId: string, id: string): Promise<void> {
    const done = await this.pool.query(
      `update api_keys set revoked_at_ms = case when revoked_at_ms = 0 then ${nowMs} else revoked_at_ms end
       where team_id = $1 and id = $2`,
      [teamId, id],
    );
    if (done.rowCount === 0) throw new NightshiftError('NOT_FOUND', `there is no key ${id}`);
  }

  /** Makes sure that the first team exists; true when it has no usable admin key yet. */
  async prepareFirstTeam(): Promise<boolean> {
    await this.pool.query(`insert into teams (id, name, created_at_ms) values ($1, $1, ${nowMs}) on conflict do nothing`, [
      firstTeam,
    ]);
    const found = await this.pool.query<{ none: boolean }>(
      `select not exists (select 1 from api_keys where team_id = $1 and role = 'admin' and revoked_at_ms = 0) as none`,
      [firstTeam],
    );
    return found.rows[0]!.none;
  }

  /**
   * Makes `key` the one bootstrap key; the earlier one is revoked in the same statement. Replicas that start together
   * insert the same hash, so all but one change nothing.
   * @returns true when it was new.
   */
  async replaceBootstrap(key: NewKey): Promise<boolean> {
    const done = await this.pool.query(
      `with made as (
         insert into api_keys (team_id, id, name, prefix, hash, role, created_at_ms)
         values ($1, $2, $3, $4, $5, 'admin', ${nowMs}) on conflict (hash) do nothing returning id
       ), revoked as (
         update api_keys set revoked_at_ms = ${nowMs}
         where team_id = $1 and name = $3 and revoked_at_ms = 0 and hash <> $5 and exists (select 1 from made)
       ) select id from made`,
      [firstTeam, v7(), bootstrapName, key.prefix, key.hash],
    );
    return (done.rowCount ?? 0) > 0;
  }
}
