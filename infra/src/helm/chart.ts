import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { Templates } from './template';

export const chartRoot = join(__dirname, '../../helm/nightshift');
const files = [
  '_names.tpl',
  'configuration.yaml',
  'migration.yaml',
  'services.yaml',
  'runner.yaml',
  'compactor-scaling.yaml',
  'pod-monitor.yaml',
  'network-policy.yaml',
];

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
}

export interface ChartValues {
  services: Record<
    string,
    { replicas: number; graceSeconds: number; autoscaled?: boolean; database?: boolean; providerKeys?: boolean }
  >;
  compactorScaling: { stream: string; consumer: string; enabled: boolean; passesPerWorker: number };
  nats: { account: string };
  metricsPort: number;
  [field: string]: unknown;
}

export function chartValues(): ChartValues {
  return parse(readFileSync(join(chartRoot, 'values.yaml'), 'utf8')) as ChartValues;
}

/** Every manifest of the chart with the given values. */
export function renderChart(values: ChartValues): Manifest[] {
  const templates = new Templates();
  const dot = {
    Values: values,
    Release: { Name: 'nightshift', Namespace: 'nightshift' },
    Chart: parse(readFileSync(join(chartRoot, 'Chart.yaml'), 'utf8')) as object,
  };
  const chart = { ...dot, Chart: { AppVersion: (dot.Chart as { appVersion: string }).appVersion } };
  return files
    .flatMap((file) => {
      const text = templates.render(readFileSync(join(chartRoot, 'templates', file), 'utf8'), chart);
      return parseAllDocuments(text).map((document) => {
        if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.map(String).join('; ')}\n${text}`);
        return document.toJS() as Manifest | null;
      });
    })
    .filter((manifest): manifest is Manifest => manifest !== null);
}
