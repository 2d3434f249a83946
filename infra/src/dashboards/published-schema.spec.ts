import { PublishedTypes } from '../../spec-kit/published-types';
import { dashboards } from '../generated-files';
import type { Panel } from './panel';

const published = new PublishedTypes();

interface Configured extends Panel {
  options: unknown;
  fieldConfig: { defaults: { custom?: unknown } };
}

function faultsOf(panel: Panel): string[] {
  if (panel.type === 'row') return published.faults(panel, 'dashboard', 'RowPanel');
  const { options, fieldConfig } = panel as Configured;
  return [
    ...published.faults(panel, 'dashboard', 'Panel'),
    ...published.faults(options, panel.type, 'Options'),
    ...(panel.type === 'timeseries' ? published.faults(fieldConfig.defaults.custom, 'timeseries', 'FieldConfig') : []),
  ];
}

describe.each(Object.entries(dashboards))('the dashboard %s', (_name, build) => {
  it('conforms to the schema that Grafana publishes', () => {
    const { panels, ...frame } = build();
    expect(published.faults(frame, 'dashboard', 'Dashboard')).toEqual([]);
    expect(panels.flatMap((panel) => faultsOf(panel).map((fault) => `${panel.title}: ${fault}`))).toEqual([]);
  });
});

describe('the comparison with the published schema', () => {
  const panel = (): Panel => dashboards.overview().panels.find(({ type }) => type === 'timeseries') as Panel;

  it('finds a field that does not exist, one that is missing and a value outside of an enumeration', () => {
    expect(published.faults({ ...panel(), gridPosition: {} }, 'dashboard', 'Panel')).toEqual(['Panel.gridPosition is not known']);
    const { type: _type, ...without } = panel();
    expect(published.faults(without, 'dashboard', 'Panel')).toEqual(['Panel.type is missing']);
    expect(published.faults({ drawStyle: 'lines' }, 'timeseries', 'FieldConfig')).toEqual([
      expect.stringContaining('FieldConfig.drawStyle: expected'),
    ]);
  });
});
