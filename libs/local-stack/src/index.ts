export { findNatsServer, requireNatsServer, natsCacheFile, startNats } from './nats-server';
export type { NatsOptions, NatsPlaces, RunningNats } from './nats-server';
export { startPostgres } from './postgres';
export type { PostgresOptions, RunningPostgres } from './postgres';
export { supervise } from './supervisor';
export type { SuperviseOptions, SupervisedService } from './supervisor';
export { startChild } from './child';
export type { Child, ChildOptions, Exit } from './child';
export { freePort, portTaken, loopback } from './ports';
