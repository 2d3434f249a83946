import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { metricTable, type LabelsOf, type LabelTable, type MetricName, type MetricRow, type NamesOf } from './names';
import { watchProcess } from './process-gauges';

type Labels<K extends MetricName> = keyof LabelsOf<K> extends never ? Record<string, never> : LabelsOf<K>;
type WithLabels<K extends MetricName, R extends unknown[]> = keyof LabelsOf<K> extends never
  ? [labels?: Record<string, never>, ...rest: R]
  : [labels: Labels<K>, ...rest: R];

export interface CounterOf<K extends MetricName> {
  inc(...args: WithLabels<K, [by?: number]>): void;
}
export interface GaugeOf<K extends MetricName> {
  set(labels: Labels<K>, value: number): void;
  inc(...args: WithLabels<K, [by?: number]>): void;
  dec(...args: WithLabels<K, [by?: number]>): void;
}
export interface HistogramOf<K extends MetricName> {
  observe(labels: Labels<K>, value: number): void;
}

/** Values of an open label beyond this many are counted as `other`, so that no caller can blow up the memory of Prometheus. */
const openValuesLimit = 200;

/** The wire name of a metric. */
export function wireName(name: MetricName): string {
  if (name.startsWith('gen_ai_')) return name;
  return `nightshift_${name}${metricTable[name].type === 'counter' ? '_total' : ''}`;
}

function combinations(labels: LabelTable): Record<string, string>[] {
  let all: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    all = all.flatMap((one) => values.map((value) => ({ ...one, [label]: value })));
  }
  return all;
}

/** Which metrics a process may have, typed by the table in names.ts. Injected as a class. */
export class Metrics {
  readonly registry = new Registry();
  private readonly live = new Map<MetricName, Counter | Gauge | Histogram>();
  private readonly seen = new Map<string, Set<string>>();
  private readonly refreshers: (() => void | Promise<void>)[] = [];

  constructor(readonly service: string) {
    for (const name of Object.keys(metricTable) as MetricName[]) this.live.set(name, this.register(name, metricTable[name]));
    watchProcess(this);
  }

  counter<K extends NamesOf<'counter'>>(name: K): CounterOf<K> {
    const metric = this.live.get(name) as Counter;
    return { inc: (labels?: object, by = 1) => metric.inc(this.bounded(name, labels), by) } as CounterOf<K>;
  }

  gauge<K extends NamesOf<'gauge'>>(name: K): GaugeOf<K> {
    const metric = this.live.get(name) as Gauge;
    return {
      set: (labels: object, value: number) => metric.set(this.bounded(name, labels), value),
      inc: (labels?: object, by = 1) => metric.inc(this.bounded(name, labels), by),
      dec: (labels?: object, by = 1) => metric.dec(this.bounded(name, labels), by),
    } as GaugeOf<K>;
  }

  histogram<K extends NamesOf<'histogram'>>(name: K): HistogramOf<K> {
    const metric = this.live.get(name) as Histogram;
    return { observe: (labels: object, value: number) => metric.observe(this.bounded(name, labels), value) } as HistogramOf<K>;
  }

  /** Forgets the label values of a gauge whose subjects come and go, before they are set afresh. */
  reset(name: NamesOf<'gauge'>): void {
    (this.live.get(name) as Gauge).reset();
  }

  /** Runs before each scrape: the place to set gauges that cost something to know. A failure is left to the caller's log. */
  onScrape(refresh: () => void | Promise<void>): void {
    this.refreshers.push(refresh);
  }

  /** The text Prometheus scrapes. */
  async text(): Promise<string> {
    await Promise.allSettled(this.refreshers.map(async (refresh) => refresh()));
    return this.registry.metrics();
  }

  private register(name: MetricName, row: MetricRow): Counter | Gauge | Histogram {
    const common = { name: wireName(name), help: row.help, labelNames: Object.keys(row.labels), registers: [this.registry] };
    const zeros = combinations(row.labels);
    switch (row.type) {
      case 'counter': {
        const metric = new Counter(common);
        for (const labels of zeros) metric.inc(labels, 0);
        return metric;
      }
      case 'gauge': {
        const metric = new Gauge(common);
        for (const labels of zeros) metric.set(labels, 0);
        return metric;
      }
      case 'histogram': {
        const metric = new Histogram({ ...common, buckets: [...row.buckets] });
        for (const labels of zeros) metric.zero(labels);
        return metric;
      }
    }
  }

  private bounded(name: MetricName, labels: object | undefined): Record<string, string> {
    const given = (labels ?? {}) as Record<string, string>;
    let capped: Record<string, string> | undefined;
    const table: LabelTable = metricTable[name].labels;
    for (const label in given) {
      if (table[label]?.length !== 0) continue;
      const key = `${name} ${label}`;
      let values = this.seen.get(key);
      if (values === undefined) this.seen.set(key, (values = new Set()));
      const value = given[label] as string;
      if (values.has(value)) continue;
      if (values.size < openValuesLimit) values.add(value);
      else (capped ??= { ...given })[label] = 'other';
    }
    return capped ?? given;
  }
}

/** All metrics of the table for one process, those with bounded labels at zero. */
export function createMetrics(service: string): Metrics {
  return new Metrics(service);
}
