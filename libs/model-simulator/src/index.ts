export { startSimulator, type Simulator, type SimulatorOptions } from './server/simulator';
export { parseConfig, type SimulatorConfigInput } from './config/config';
export type { LogLine, MetadataLine } from './server/request-log';
export { prepareReplay } from './scripts/replay/replay';
export { countTokens } from './tokens/counter';
