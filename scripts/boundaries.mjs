/**
 * Which workspace packages each project may import. Arrows point down only: services, then bus, db and windows, then
 * compaction, then contracts; config and metrics at the bottom; testing from spec files only; never service to service.
 */
const bottom = ['contracts', 'config', 'metrics'];
const service = [...bottom, 'bus', 'db', 'windows', 'compaction'];

export const layers = {
  'libs/contracts': [],
  'libs/config': ['contracts'],
  'libs/metrics': ['contracts', 'config'],
  'libs/compaction': ['contracts'],
  'libs/bus': bottom,
  'libs/db': bottom,
  'libs/windows': [...bottom, 'bus', 'compaction'],
  'libs/local-stack': ['contracts', 'config', 'db'],
  'libs/model-simulator': [],
  'libs/cli': ['contracts', 'config', 'metrics', 'compaction', 'local-stack', 'db', 'bus'],
  infra: ['contracts', 'metrics', 'config', 'bus'],
  'libs/testing': [...service, 'local-stack', 'model-simulator'],
  'services/api': service,
  'services/orchestrator': service,
  'services/provider-gateway': service,
  'services/model-registry': service,
  // No database for these two: the compactor is stateless, the runner holds no credentials.
  'services/compactor': service.filter((name) => name !== 'db'),
  'services/tool-result-store': service,
  'services/tool-runner': service.filter((name) => name !== 'db'),
};

/** Third-party packages that only some projects may import, so that a move to a successor touches one place. */
export const thirdPartyOwners = {
  nats: ['libs/bus'],
  pg: [
    'libs/db',
    'libs/local-stack',
    'libs/testing',
    'services/api',
    'services/orchestrator',
    'services/provider-gateway',
    'services/model-registry',
    'services/tool-result-store',
  ],
  openai: ['services/provider-gateway', 'libs/model-simulator'],
  '@anthropic-ai/sdk': ['services/provider-gateway', 'libs/model-simulator'],
  'prom-client': ['libs/metrics'],
  pino: ['libs/metrics'],
  'js-tiktoken': ['libs/compaction', 'libs/model-simulator'],
};
