export { routes, routeOfSubject, subjectOf } from './routes';
export { serviceNames } from './route';
export type { RouteName } from './routes';
export type { Route, CommandRoute, EventRoute, LiveRoute, RequestRoute, Delivery, SubjectKey, ServiceName } from './route';
export { NightshiftError, isNightshiftError, errorCodes } from './errors';
export type { ErrorCode, ErrorOptions } from './errors';
export { headerNames, maxCommandBytes, maxPayloadBytes, maxBodyBytes } from './headers';
export { toMs, fromMs } from './time';
// One namespace per domain: `transcript.Entry`, `task.TaskState`.
export * as compaction from './gen/nightshift/compaction/v1/compaction_pb';
export * as deadletter from './gen/nightshift/deadletter/v1/deadletter_pb';
export * as error from './gen/nightshift/error/v1/error_pb';
export * as llm from './gen/nightshift/llm/v1/llm_pb';
export * as provider from './gen/nightshift/provider/v1/provider_pb';
export * as registry from './gen/nightshift/registry/v1/registry_pb';
export * as task from './gen/nightshift/task/v1/task_pb';
export * as tool from './gen/nightshift/tool/v1/tool_pb';
export * as toolresult from './gen/nightshift/toolresult/v1/toolresult_pb';
export * as transcript from './gen/nightshift/transcript/v1/transcript_pb';
