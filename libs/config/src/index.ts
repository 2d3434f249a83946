export { loadConfig, describeConfig, secretValues } from './load-config';
export type { Settings, ConfigOf, Environment } from './load-config';
export { secret, isSecret } from './secrets';
export { serviceSettings, databaseSettings, integer, flag } from './service-settings';
export type { ServiceConfig, DatabaseConfig } from './service-settings';
export { loadNightshiftFile, parseNightshiftFile, parseCandidate } from './nightshift-file';
export type { NightshiftFile, ProviderEntry, ModelEntry, CandidateName } from './nightshift-file';
export { crashPoint } from './crash-point';
