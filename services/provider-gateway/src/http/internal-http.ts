import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SERVICE_CONFIG } from '@nightshift/bus';
import { Logger } from '@nightshift/metrics';
import type { GatewayDeps } from '../core/gateway-deps';
import { GATEWAY_DEPS } from '../gateway-token';
import { AttemptLog } from '../ledger/attempt-log';
import { InternalServer } from './internal-server';

/** Opens and closes the internal HTTP route with the service. */
@Injectable()
export class InternalHttp implements OnApplicationBootstrap, OnApplicationShutdown {
  /** The real port, where 0 was asked for. */
  port = 0;
  private readonly server: InternalServer;

  constructor(
    @Inject(GATEWAY_DEPS) deps: GatewayDeps,
    @Inject(SERVICE_CONFIG) private readonly config: { GATEWAY_PORT: number },
    private readonly logger: Logger,
    log: AttemptLog,
  ) {
    this.server = new InternalServer(deps, {
      attempt: (key, attempt) => log.add(key, attempt),
      onFault: (error) => logger.error({ error }, 'internal route: a request failed'),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    this.port = await this.server.listen(this.config.GATEWAY_PORT);
    this.logger.info({ port: this.port }, 'internal route on 127.0.0.1');
  }

  onApplicationShutdown(): Promise<void> {
    return this.server.close();
  }
}
