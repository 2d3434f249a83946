import type { MessageInitShape } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { fromMs } from '@nightshift/contracts';
import type { registry } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { ConfiguredProvider } from './configured';

/**
 * `refused`: it answered, but not as such a server does (or it wants a key); nothing of the answer was used.
 * `unknown`: nobody could ask it; what is stored stays as it is.
 */
export type EndpointState = 'up' | 'down' | 'refused' | 'unknown';

export interface EndpointReport {
  state: EndpointState;
  reason: string;
  version: string;
}

interface EndpointRow {
  provider: string;
  endpoint: string;
  state: string;
  reason: string;
  serverVersion: string;
  lastOkAt: Date | null;
  lastTryAt: Date;
}

@Injectable()
export class EndpointStore {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  /** Records one try. */
  async save(provider: string, endpoint: string, report: EndpointReport): Promise<void> {
    await this.pool.query(
      `insert into provider_endpoints (provider, endpoint, state, reason, server_version, last_ok_at, last_try_at)
       values ($1, $2, $3, $4, $5, case when $3 = 'up' then now() end, now())
       on conflict (provider, endpoint) do update set state = excluded.state, reason = excluded.reason,
         server_version = case when excluded.state = 'up' then excluded.server_version else provider_endpoints.server_version end,
         last_ok_at = coalesce(excluded.last_ok_at, provider_endpoints.last_ok_at), last_try_at = excluded.last_try_at`,
      [provider, endpoint, report.state, report.reason.slice(0, 500), report.version.slice(0, 100)],
    );
  }

  /** One line per configured endpoint; `unknown` before its first poll. */
  async status(providers: readonly ConfiguredProvider[]): Promise<MessageInitShape<typeof registry.EndpointStatusSchema>[]> {
    const found = await this.pool.query<EndpointRow>(
      `select provider, endpoint, state, reason, server_version as "serverVersion", last_ok_at as "lastOkAt",
         last_try_at as "lastTryAt" from provider_endpoints`,
    );
    return providers.map(({ provider, endpoint }) => {
      const row = found.rows.find((each) => each.provider === provider && each.endpoint === endpoint);
      return {
        provider,
        endpoint,
        state: row?.state ?? 'unknown',
        reason: row?.reason ?? 'not polled yet',
        serverVersion: row?.serverVersion ?? '',
        lastOkMs: fromMs(row?.lastOkAt?.getTime() ?? 0),
        lastTryMs: fromMs(row?.lastTryAt.getTime() ?? 0),
      };
    });
  }
}
