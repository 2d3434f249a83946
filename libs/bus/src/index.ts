export { Bus } from './bus';
export type { BusSettings } from './bus';
export { BusContext, systemTeam } from './context';
export type {
  RequestOptions,
  GatherOptions,
  CommandOptions,
  EventOptions,
  LiveOptions,
  MessageListener,
  Stop,
  EventSubscription,
} from './options';
export { kvKey, kvKeyParts } from './kv/kv';
export type { Kv, KvEntry, KvChange, KvOptions, KvWatch } from './kv/kv';
export { runService, startService } from './service/run-service';
export type { RunningService, ServiceOptions, HttpOptions, DeadLetterHook } from './service/service-options';
export { BusModule, SERVICE_CONFIG } from './service/bus.module';
export { topology, streamName, consumerName, deliveryLimit, maxDeliver } from './topology/plan';
export type { StreamPlan, ConsumerPlan } from './topology/plan';
export { defaultTimings, keepAliveSubject } from './requests/timings';
export type { BusTimings } from './requests/timings';
export { inboxPrefix } from './connection';
export { uncountedBucket } from './commands/uncounted';
export { claimBuckets } from './wire/claim-check';
export { inspectNats } from './topology/inspect';
export type { NatsReport, QueueState } from './topology/inspect';
