import { layOut, schemaVersion, type Panel, type PanelSpec } from './panel';

export interface Variable {
  readonly name: string;
  readonly label: string;
  /** PromQL of `label_values(…)`, or free text. */
  readonly query?: string;
  readonly text?: string;
}

export interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  panels: Panel[];
  [field: string]: unknown;
}

/** A dashboard as Grafana stores it: fixed uid, no `id`, the data source by variable and never by name. */
export function dashboard(
  uid: string,
  title: string,
  description: string,
  specs: readonly PanelSpec[],
  variables: readonly Variable[] = [],
): Dashboard {
  return {
    uid,
    title,
    description,
    schemaVersion,
    version: 1,
    editable: false,
    tags: ['nightshift'],
    timezone: 'browser',
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timepicker: {},
    annotations: { list: [] },
    links: [
      {
        type: 'dashboards',
        title: 'Nightshift',
        tags: ['nightshift'],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
        icon: 'external link',
        targetBlank: false,
        tooltip: '',
        url: '',
      },
    ],
    templating: {
      list: [
        {
          name: 'datasource',
          label: 'Data source',
          type: 'datasource',
          query: 'prometheus',
          hide: 0,
          refresh: 1,
          regex: '',
          multi: false,
          includeAll: false,
          options: [],
        },
        ...variables.map(({ name, label, query, text }) =>
          query === undefined
            ? {
                name,
                label,
                type: 'textbox',
                query: text ?? '',
                current: { text: text ?? '', value: text ?? '' },
                hide: 0,
                options: [],
              }
            : {
                name,
                label,
                type: 'query',
                datasource: { type: 'prometheus', uid: '${datasource}' },
                query: { query, refId: name },
                refresh: 2,
                sort: 1,
                multi: true,
                includeAll: true,
                allValue: '.*',
                current: { text: 'All', value: '$__all' },
                hide: 0,
                regex: '',
                options: [],
              },
        ),
      ],
    },
    panels: layOut(specs),
  };
}
