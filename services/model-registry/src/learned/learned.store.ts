import { Inject, Injectable } from '@nestjs/common';
import { Pool } from '@nightshift/db';
import type { ModelName } from '../windows/window-rows';
import type { Lesson } from './observation';

type Limit = Extract<Lesson, { teaches: 'limit' }>;

@Injectable()
export class LearnedStore {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  /**
   * Records a stated limit. The same message delivered twice has the same time and is one sighting. Stating it again makes
   * it the newest and forgets what was accepted before.
   * @returns false when nothing changed
   */
  async learn(name: ModelName, limit: Limit, against: number | undefined): Promise<boolean> {
    const done = await this.pool.query(
      `insert into learned_limits (provider, endpoint, model, kind, tokens, exactness, against, text, "at")
       values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9 / 1000.0))
       on conflict (provider, endpoint, model, kind, tokens) do update set
         sightings = learned_limits.sightings + 1, "at" = excluded."at", against = excluded.against, text = excluded.text,
         exactness = case when learned_limits.exactness = 'exact' then 'exact' else excluded.exactness end, accepted_tokens = null
       where excluded."at" > learned_limits."at"`,
      [
        name.provider,
        name.endpoint,
        name.model,
        limit.kind,
        limit.tokens,
        limit.exactness,
        against ?? null,
        limit.text,
        limit.atMs,
      ],
    );
    return (done.rowCount ?? 0) > 0;
  }

  /** A request with this much input was accepted: limits below it are disproved. */
  async accepted(name: ModelName, tokens: number): Promise<boolean> {
    const done = await this.pool.query(
      `update learned_limits set accepted_tokens = $4
       where provider = $1 and endpoint = $2 and model = $3 and kind in ('window', 'inputMax') and tokens < $4
         and coalesce(accepted_tokens, 0) < $4`,
      [name.provider, name.endpoint, name.model, tokens],
    );
    return (done.rowCount ?? 0) > 0;
  }
}
