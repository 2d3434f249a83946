import { metricTable, wireName, type MetricName } from '@nightshift/metrics';

/** The wire name of a metric, with a selector: a name or label that is not in the table does not compile or throws here. */
export function metric(
  name: MetricName,
  selector: Readonly<Record<string, string>> = {},
  suffix: '' | '_bucket' | '_sum' | '_count' = '',
): string {
  const row = metricTable[name];
  if (suffix !== '' && row.type !== 'histogram') throw new RangeError(`${name} is a ${row.type}, it has no ${suffix}`);
  const matchers = Object.entries(selector).map(([label, matcher]) => {
    if (!(label in row.labels) && label !== 'job' && label !== 'instance') throw new RangeError(`${name} has no label ${label}`);
    return /^[=!]/.test(matcher) ? `${label}${matcher}` : `${label}="${matcher}"`;
  });
  return `${wireName(name)}${suffix}${matchers.length > 0 ? `{${matchers.join(',')}}` : ''}`;
}

/** `sum by (…) (rate(metric[window]))`. */
export function rate(
  name: MetricName,
  window: string,
  options: { by?: readonly string[]; where?: Readonly<Record<string, string>> } = {},
): string {
  const by = options.by && options.by.length > 0 ? ` by (${options.by.join(', ')})` : '';
  return `sum${by} (rate(${metric(name, options.where)}[${window}]))`;
}

export function increase(
  name: MetricName,
  window: string,
  options: { by?: readonly string[]; where?: Readonly<Record<string, string>> } = {},
): string {
  return rate(name, window, options).replace('(rate(', '(increase(');
}

/** A quantile of a histogram over a window. */
export function quantile(q: number, name: MetricName, window: string, by: readonly string[] = []): string {
  return `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (rate(${metric(name, {}, '_bucket')}[${window}])))`;
}
