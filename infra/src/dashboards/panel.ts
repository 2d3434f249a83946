/** Builders for the part of Grafana's dashboard model that we use (schema version 39, classic JSON). */
export const schemaVersion = 39;
const dataSource = { type: 'prometheus', uid: '${datasource}' } as const;

export type Unit = 'short' | 's' | 'percentunit' | 'tokens' | 'bytes' | 'reqps' | 'none';

export interface PanelOptions {
  readonly title: string;
  readonly description?: string;
  /** Legend template → PromQL. */
  readonly queries: Readonly<Record<string, string>>;
  readonly unit?: Unit;
  /** Width of 24. */
  readonly width?: number;
  readonly height?: number;
  readonly stack?: boolean;
  /** A red line and colour from this value on. */
  readonly limit?: number;
}

interface GridPosition {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Panel {
  id: number;
  type: 'timeseries' | 'stat' | 'row';
  title: string;
  gridPos: GridPosition;
  [field: string]: unknown;
}

export type PanelSpec =
  | { readonly kind: 'timeseries' | 'stat'; readonly options: PanelOptions }
  | { readonly kind: 'row'; readonly title: string };

export const row = (title: string): PanelSpec => ({ kind: 'row', title });
export const graph = (options: PanelOptions): PanelSpec => ({ kind: 'timeseries', options });
export const stat = (options: PanelOptions): PanelSpec => ({ kind: 'stat', options: { width: 4, height: 4, ...options } });

function targets(queries: PanelOptions['queries'], instant: boolean) {
  return Object.entries(queries).map(([legendFormat, expr], index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: dataSource,
    expr,
    legendFormat,
    instant,
    range: !instant,
    editorMode: 'code',
  }));
}

function thresholds(limit: number | undefined) {
  const steps: { color: string; value: number | null }[] = [{ color: 'green', value: null }];
  if (limit !== undefined) steps.push({ color: 'red', value: limit });
  return { mode: 'absolute', steps };
}

function build(spec: Exclude<PanelSpec, { kind: 'row' }>, id: number, gridPos: GridPosition): Panel {
  const { kind, options } = spec;
  const timeseries = kind === 'timeseries';
  return {
    id,
    type: kind,
    title: options.title,
    description: options.description ?? '',
    gridPos,
    datasource: dataSource,
    targets: targets(options.queries, !timeseries),
    fieldConfig: {
      defaults: {
        unit: options.unit === 'tokens' ? 'short' : (options.unit ?? 'short'),
        min: 0,
        thresholds: thresholds(options.limit),
        ...(timeseries
          ? {
              custom: {
                drawStyle: 'line',
                lineWidth: 1,
                fillOpacity: options.stack ? 40 : 10,
                stacking: { mode: options.stack ? 'normal' : 'none', group: 'A' },
                thresholdsStyle: { mode: options.limit === undefined ? 'off' : 'line' },
              },
            }
          : {}),
      },
      overrides: [],
    },
    options: timeseries
      ? {
          legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
          tooltip: { mode: 'multi', sort: 'desc' },
        }
      : {
          reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
          colorMode: 'value',
          graphMode: 'area',
          justifyMode: 'auto',
          orientation: 'auto',
          textMode: 'auto',
          wideLayout: true,
          showPercentChange: false,
          percentChangeColorMode: 'standard',
        },
  };
}

/** Lays panels out left to right in rows of 24 columns. */
export function layOut(specs: readonly PanelSpec[]): Panel[] {
  const panels: Panel[] = [];
  let [x, y, lineHeight] = [0, 0, 0];
  for (const spec of specs) {
    const id = panels.length + 1;
    const w = spec.kind === 'row' ? 24 : (spec.options.width ?? 12);
    const h = spec.kind === 'row' ? 1 : (spec.options.height ?? 8);
    if (x + w > 24) [x, y, lineHeight] = [0, y + lineHeight, 0];
    const gridPos = { x, y, w, h };
    if (spec.kind === 'row') panels.push({ id, type: 'row', title: spec.title, gridPos, collapsed: false, panels: [] });
    else panels.push(build(spec, id, gridPos));
    [x, lineHeight] = [x + w, Math.max(lineHeight, h)];
  }
  return panels;
}
