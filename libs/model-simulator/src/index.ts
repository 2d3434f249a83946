export { startSimulator, type Simulator, type SimulatorOptions } from './server/simulator';
export { parseConfig, type SimulatorConfigInput } from './config/config';
export type { LogLine } from './server/request-log';
