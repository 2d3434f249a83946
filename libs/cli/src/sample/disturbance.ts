import type { Stack } from '../local/stack';
import type { ServiceName } from '../local/layout';
import { sumOf, type MetricsKeeper } from './metrics-keeper';

/** Far enough into the work that there is something to lose. */
const afterToolCalls = 12;
const waitForWorkMs = 120_000;

/** In which gauge a service shows that it is in the middle of something. */
const busyGauge: Partial<Record<ServiceName, string>> = {
  'provider-gateway': 'nightshift_provider_in_flight',
  compactor: 'nightshift_compaction_running',
  'tool-runner': 'nightshift_tool_running',
};

/** Kills one service with SIGKILL while it works, once; its supervisor starts it again. */
export class Killer {
  private done = false;
  /** The killed service, once it has been killed. */
  killed: ServiceName | undefined;

  constructor(
    private readonly stack: Stack,
    private readonly keeper: MetricsKeeper,
    private readonly service: ServiceName,
    private readonly say: (line: string) => void,
  ) {}

  /** Call with the number of tool calls so far. */
  onToolCalls(count: number): void {
    if (this.done || count < afterToolCalls) return;
    this.done = true;
    void this.kill();
  }

  private async kill(): Promise<void> {
    await this.untilBusy();
    const before = this.stack.service(this.service).pid();
    await this.keeper.scrape(this.service);
    this.stack.service(this.service).signal('SIGKILL');
    this.killed = this.service;
    this.say(`killed ${this.service} (process ${before}) with SIGKILL in the middle of its work`);
  }

  private async untilBusy(): Promise<void> {
    const gauge = busyGauge[this.service];
    const url = this.stack.operations()[this.service];
    const until = Date.now() + waitForWorkMs;
    while (gauge !== undefined && Date.now() < until) {
      const text = await fetch(`${url}/metrics`)
        .then((response) => response.text())
        .catch(() => '');
      if (sumOf(text, gauge) > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
