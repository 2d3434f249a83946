import { create } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { compaction, fromMs, registry } from '@nightshift/contracts';
import { catalogueModels } from '../catalogue/catalogue';
import { ConfiguredProviders } from '../endpoints/configured';
import { describeModel } from '../resolve/describe-model';
import type { DescribedModel } from '../resolve/describe-model';
import { nameKey } from './window-rows';
import type { KnownModel, ModelName, OverrideRow } from './window-rows';
import { WindowStore, groupKnown } from './window.store';

export const STALE_AFTER = Symbol('STALE_AFTER');
export interface StaleAfter {
  served: number;
  list: number;
}

/** A model with its decided window; `team` where the team's override took part. */
export interface DescribedName {
  name: ModelName;
  team?: string;
  described: DescribedModel;
}

/** Reads what is known and asks the resolver: the one way from rows to windows. */
@Injectable()
export class WindowService {
  constructor(
    @Inject(WindowStore) private readonly store: WindowStore,
    @Inject(ConfiguredProviders) private readonly providers: ConfiguredProviders,
    @Inject(STALE_AFTER) private readonly staleAfterMs: StaleAfter,
  ) {}

  nameOf(asked: ModelName): ModelName {
    return { ...asked, endpoint: this.providers.endpointOf(asked.provider, asked.endpoint) };
  }

  async describe(name: ModelName, team?: string): Promise<DescribedName> {
    const known = await this.store.one(name, team);
    return { name, ...(known.override ? { team: known.override.teamId } : {}), described: this.decide(known) };
  }

  /** The general window of a model and that of every team with an override. */
  async describeForEveryone(name: ModelName): Promise<DescribedName[]> {
    const [known, overrides] = await Promise.all([this.store.one(name), this.store.overridesOf(name)]);
    return [{ name, described: this.decide(known) }, ...overrides.map((override) => this.overridden(known, override))];
  }

  /**
   * Every window that can be named: stored ones, those of nightshift.yaml, the catalogue's, and one more per team override.
   * @param catalogue the rows of which vendors' catalogue are wanted too
   */
  async describeAll(catalogue: 'every' | 'none' | { provider: string }): Promise<DescribedName[]> {
    const all = await this.store.all();
    const known = groupKnown(all);
    for (const { provider, model } of [...this.providers.namedModels(), ...this.catalogueNames(catalogue)]) {
      const name = this.nameOf({ provider, endpoint: '', model });
      if (!known.has(nameKey(name))) known.set(nameKey(name), { name, learned: [] });
    }
    const general = [...known.values()].map((each) => ({ name: each.name, described: this.decide(each) }));
    const ofTeams = all.overrides.map((override) => this.overridden(known.get(nameKey(override)), override));
    return [...general, ...ofTeams];
  }

  private overridden(known: KnownModel | undefined, override: OverrideRow): DescribedName {
    const { provider, endpoint, model } = override;
    const name = { provider, endpoint, model };
    return { name, team: override.teamId, described: this.decide({ learned: [], ...known, name, override }) };
  }

  private catalogueNames(wanted: 'every' | 'none' | { provider: string }): { provider: string; model: string }[] {
    if (wanted === 'none') return [];
    const providers = this.providers.all().filter((each) => wanted === 'every' || each.provider === wanted.provider);
    return providers.flatMap(({ provider, vendor }) => catalogueModels(vendor).map((model) => ({ provider, model })));
  }

  private decide(known: KnownModel): DescribedModel {
    const configured = this.providers.get(known.name.provider);
    const operator = known.name.endpoint === configured?.endpoint ? configured.models[known.name.model] : undefined;
    return describeModel({
      known,
      vendor: configured?.vendor ?? known.name.provider,
      ...(operator ? { operator } : {}),
      nowMs: Date.now(),
      staleAfterMs: this.staleAfterMs,
    });
  }
}

/** As it travels and lies in the bucket. */
export function windowMessage({ name, described }: DescribedName): compaction.ModelWindow {
  return create(compaction.ModelWindowSchema, {
    ...name,
    window: described.window,
    inputMax: described.inputMax ?? 0,
    outputMax: described.outputMax ?? 0,
    trainedMax: described.trainedMax ?? 0,
    source: described.source,
    atMs: fromMs(described.atMs),
    unknown: described.unknown,
    stale: described.stale,
    notLoaded: described.notLoaded,
    warning: described.warning,
    numCtx: described.numCtx,
  });
}

export function windowReply(each: DescribedName): registry.WindowReply {
  const sources = each.described.sources.map((source) => ({
    source: source.source,
    window: source.window ?? 0,
    inputMax: source.inputMax ?? 0,
    outputMax: source.outputMax ?? 0,
    trainedMax: source.trainedMax ?? 0,
    atMs: fromMs(source.atMs),
    fate: source.fate,
    reason: source.reason,
  }));
  return create(registry.WindowReplySchema, { window: windowMessage(each), sources, numCtx: each.described.numCtx });
}
