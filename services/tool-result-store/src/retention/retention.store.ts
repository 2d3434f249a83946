import { Inject, Injectable } from '@nestjs/common';
import { Pool, transaction } from '@nightshift/db';

export interface RetentionLimits {
  /** Results of a root are removed this long after it has ended. */
  ageMs: number;
  /** Per team; results of the roots that ended first are removed until the rest fits. */
  bytesPerTeam: number;
}

export interface Removed {
  results: number;
  blobs: number;
}

/** Blobs without reference stay this long, so that a put that has just touched one always finds it. */
const untouchedFor = '1 hour';
const blobsPerStatement = 200;
/** One collector at a time among replicas; the number only has to differ from other locks of ours. */
const collectorLock = 7_240_501;

const endedResults = `
  select r.team_id, r.root_id, r.id from tool_results r
  join tool_result_roots e on e.team_id = r.team_id and e.root_id = r.root_id`;

/** What may be removed, and when: live roots have no row in tool_result_roots and so cannot be matched at all. */
@Injectable()
export class RetentionStore {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  /** From now on retention applies to the root's results. Repeating it changes nothing. */
  async rootEnded(team: string, rootId: string, atMs: number): Promise<void> {
    await this.pool.query(
      `insert into tool_result_roots (team_id, root_id, ended_at) values ($1, $2, to_timestamp($3 / 1000.0))
       on conflict (team_id, root_id) do nothing`,
      [team, rootId, atMs],
    );
  }

  /** One round: age, then size, then the bytes nobody refers to. Undefined when another replica is collecting. */
  async collect(limits: RetentionLimits): Promise<Removed | undefined> {
    const results = await transaction(this.pool, async (client) => {
      const lock = await client.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [collectorLock]);
      if (!lock.rows[0]?.taken) return undefined;
      const byAge = await client.query(
        `delete from tool_results t using (${endedResults} where e.ended_at < now() - $1 * interval '1 millisecond') old
         where t.team_id = old.team_id and t.root_id = old.root_id and t.id = old.id`,
        [limits.ageMs],
      );
      // Per team: newest first, counting live roots too; ended ones beyond the limit go.
      const bySize = await client.query(
        `delete from tool_results t using (
           select r.team_id, r.root_id, r.id, e.ended_at is not null as ended,
             sum(r.bytes::bigint) over (
               partition by r.team_id order by coalesce(e.ended_at, 'infinity') desc, r.created_at desc, r.root_id, r.id
             ) as running
           from tool_results r left join tool_result_roots e on e.team_id = r.team_id and e.root_id = r.root_id
           where r.team_id in (select team_id from tool_results group by team_id having sum(bytes::bigint) > $1)
         ) ranked
         where ranked.ended and ranked.running > $1
           and t.team_id = ranked.team_id and t.root_id = ranked.root_id and t.id = ranked.id`,
        [limits.bytesPerTeam],
      );
      await client.query(
        `delete from tool_result_roots e where e.ended_at < now() - $1 * interval '1 millisecond'
           and not exists (select 1 from tool_results r where r.team_id = e.team_id and r.root_id = e.root_id)`,
        [limits.ageMs],
      );
      return (byAge.rowCount ?? 0) + (bySize.rowCount ?? 0);
    });
    if (results === undefined) return undefined;
    return { results, blobs: await this.collectBlobs() };
  }

  /** Bytes as they lie in the database, all teams together. */
  async storedBytes(): Promise<number> {
    const found = await this.pool.query<{ bytes: number }>(
      'select coalesce(sum(stored_bytes), 0)::bigint as bytes from tool_result_blobs',
    );
    return found.rows[0]?.bytes ?? 0;
  }

  // The row is locked and both conditions are checked again on what the lock found: a put that touched it meanwhile wins.
  private async collectBlobs(): Promise<number> {
    let removed = 0;
    for (;;) {
      const done = await this.pool.query(
        `with victim as (
           select b.team_id, b.sha256 from tool_result_blobs b
           where b.touched_at < now() - interval '${untouchedFor}'
             and not exists (select 1 from tool_results r where r.team_id = b.team_id and r.sha256 = b.sha256)
           order by b.touched_at limit ${blobsPerStatement} for update skip locked
         )
         delete from tool_result_blobs b using victim v where b.team_id = v.team_id and b.sha256 = v.sha256`,
      );
      removed += done.rowCount ?? 0;
      if ((done.rowCount ?? 0) < blobsPerStatement) return removed;
    }
  }
}
