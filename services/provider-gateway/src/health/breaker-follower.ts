import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { Logger } from '@nightshift/metrics';
import type { GatewayDeps } from '../core/gateway-deps';
import { GATEWAY_DEPS } from '../gateway-token';

export const healthBucket = 'provider_health';

/** Keeps the breakers in step with the other replicas. Until the bucket is there this process decides for itself. */
@Injectable()
export class BreakerFollower implements OnApplicationBootstrap, OnApplicationShutdown {
  private watch: { stop(): void } | undefined;
  private stopped = false;

  constructor(
    private readonly bus: Bus,
    private readonly logger: Logger,
    @Inject(GATEWAY_DEPS) private readonly deps: GatewayDeps,
  ) {}

  onApplicationBootstrap(): void {
    void this.follow();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.deps.breakers.settled();
    this.watch?.stop();
    this.deps.client.close();
  }

  private async follow(): Promise<void> {
    while (!this.stopped) {
      try {
        this.watch = await this.deps.breakers.follow(await this.bus.kv(healthBucket));
        return;
      } catch (error) {
        this.logger.warn({ error }, 'provider breakers: the shared bucket is not there yet');
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }
}
