import { clone, equals, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { Bus, systemTeam } from '@nightshift/bus';
import type { Kv } from '@nightshift/bus';
import { compaction, routes } from '@nightshift/contracts';
import { Metrics } from '@nightshift/metrics';
import { WindowTable, seededKey, windowBucket, windowKey } from '@nightshift/windows';
import { ConfiguredProviders } from '../endpoints/configured';
import { WindowService, windowMessage } from './window-service';
import type { DescribedName } from './window-service';

const putsAtOnce = 64;
const sources = ['operator', 'team', 'served', 'list', 'catalogue', 'family', 'learned', 'unknown'] as const;

/** Writes windows into the bucket that every service watches, and tells when one changed. */
@Injectable()
export class Publisher {
  /** What the bucket holds, from its own watch: the previous value of a change, also across restarts. */
  private readonly held = new WindowTable();
  private opened: Promise<Kv> | undefined;

  constructor(
    @Inject(Bus) private readonly bus: Bus,
    @Inject(WindowService) private readonly windows: WindowService,
    @Inject(ConfiguredProviders) private readonly providers: ConfiguredProviders,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** Everything again, changed or not, then the marker: a watch can miss a change around a server restart. */
  async publishAll(): Promise<number> {
    const all = await this.windows.describeAll('every');
    const kv = await this.bucket();
    for (let at = 0; at < all.length; at += putsAtOnce) {
      await Promise.all(all.slice(at, at + putsAtOnce).map((each) => this.put(kv, each, true)));
    }
    await kv.put(seededKey, JSON.stringify({ atMs: Date.now(), windows: all.length }));
    this.count(all);
    return all.length;
  }

  /** One window, if it differs from what the bucket holds. */
  async publish(each: DescribedName): Promise<void> {
    await this.put(await this.bucket(), each, false);
  }

  /** After a team took its override back: its key goes, and the general window holds for it again. */
  async withdraw(name: DescribedName['name'], team: string): Promise<void> {
    const kv = await this.bucket();
    for (const endpoint of this.places(name)) await kv.delete(windowKey({ ...name, endpoint, team }));
  }

  private async put(kv: Kv, each: DescribedName, always: boolean): Promise<void> {
    const message = windowMessage(each);
    for (const endpoint of this.places(each.name)) {
      const key = windowKey({ ...each.name, endpoint, ...(each.team === undefined ? {} : { team: each.team }) });
      const previous = this.held.at(key);
      const changed = !previous || !sameButTime(previous, message);
      if (!changed && !always) continue;
      await kv.put(key, toBinary(compaction.ModelWindowSchema, message));
      this.held.apply({ key, value: toBinary(compaction.ModelWindowSchema, message) });
      if (endpoint === each.name.endpoint && previous && previous.window !== message.window)
        await this.tell(each, message, previous.window);
    }
  }

  private async tell(each: DescribedName, window: compaction.ModelWindow, previous: number): Promise<void> {
    this.metrics.counter('window_changes').inc();
    const { provider, endpoint, model } = each.name;
    const messageId = `window:${provider}:${endpoint}:${model}:${each.team ?? ''}:${previous}:${window.window}:${window.atMs}`;
    await this.bus.event(routes.windowChanged, { window, previous }, { team: each.team ?? systemTeam, messageId });
  }

  /** Readers that know no address ask with an empty one. */
  private places(name: DescribedName['name']): string[] {
    const configured = this.providers.get(name.provider)?.endpoint;
    return name.endpoint !== '' && name.endpoint === configured ? [name.endpoint, ''] : [name.endpoint];
  }

  private count(all: readonly DescribedName[]): void {
    for (const source of sources) {
      this.metrics.gauge('window_source').set({ source }, all.filter((each) => each.described.source === source).length);
    }
    this.metrics.gauge('window_unknown_models').set({}, all.filter((each) => each.described.unknown).length);
  }

  private bucket(): Promise<Kv> {
    this.opened ??= this.open();
    this.opened.catch(() => (this.opened = undefined));
    return this.opened;
  }

  private async open(): Promise<Kv> {
    const kv = await this.bus.kv(windowBucket);
    const watch = await kv.watch((change) => this.held.apply(change));
    await watch.ready;
    return kv;
  }
}

function sameButTime(a: compaction.ModelWindow, b: compaction.ModelWindow): boolean {
  const timeless = clone(compaction.ModelWindowSchema, a);
  timeless.atMs = b.atMs;
  return equals(compaction.ModelWindowSchema, timeless, b);
}
