import * as compaction from './gen/nightshift/compaction/v1/compaction_pb';
import * as deadletter from './gen/nightshift/deadletter/v1/deadletter_pb';
import * as llm from './gen/nightshift/llm/v1/llm_pb';
import * as provider from './gen/nightshift/provider/v1/provider_pb';
import * as registry from './gen/nightshift/registry/v1/registry_pb';
import * as task from './gen/nightshift/task/v1/task_pb';
import * as tool from './gen/nightshift/tool/v1/tool_pb';
import * as toolresult from './gen/nightshift/toolresult/v1/toolresult_pb';
import { command, event, live, request, version, type Many, type Route } from './route';

const everyone: Many = [
  'orchestrator',
  'provider-gateway',
  'model-registry',
  'compactor',
  'tool-result-store',
  'tool-runner',
  'api',
];

/**
 * Every message of the system. Streams, consumers, permissions, scaling triggers and the documentation are derived
 * from this table or checked against it.
 */
export const routes = {
  // tasks
  taskCreate: request('taskCreate', 'task.create', 'orchestrator', ['api'], task.CreateRequestSchema, task.CreateReplySchema, {
    deadlineMs: 10_000,
  }),
  taskGet: request('taskGet', 'task.get', 'orchestrator', ['api'], task.GetRequestSchema, task.GetReplySchema),
  taskList: request('taskList', 'task.list', 'orchestrator', ['api'], task.ListRequestSchema, task.ListReplySchema),
  taskCancel: request('taskCancel', 'task.cancel', 'orchestrator', ['api'], task.CancelRequestSchema, task.CancelReplySchema),
  taskPause: request('taskPause', 'task.pause', 'orchestrator', ['api'], task.PauseRequestSchema, task.PauseReplySchema),
  taskResume: request('taskResume', 'task.resume', 'orchestrator', ['api'], task.ResumeRequestSchema, task.ResumeReplySchema),
  taskSend: request('taskSend', 'task.send', 'orchestrator', ['api'], task.SendRequestSchema, task.SendReplySchema),
  taskEntries: request(
    'taskEntries',
    'task.entries',
    'orchestrator',
    ['api'],
    task.EntriesRequestSchema,
    task.EntriesReplySchema,
  ),
  taskEvents: request('taskEvents', 'task.events', 'orchestrator', ['api'], task.EventsRequestSchema, task.EventsReplySchema),
  taskToolCalls: request(
    'taskToolCalls',
    'task.tool_calls',
    'orchestrator',
    ['api'],
    task.ToolCallsRequestSchema,
    task.ToolCallsReplySchema,
  ),
  taskCompact: request(
    'taskCompact',
    'task.compact',
    'orchestrator',
    ['api'],
    task.CompactRequestSchema,
    task.CompactReplySchema,
  ),
  taskUndo: request('taskUndo', 'task.undo', 'orchestrator', ['api'], task.UndoRequestSchema, task.UndoReplySchema),
  taskGenerations: request(
    'taskGenerations',
    'task.generations',
    'orchestrator',
    ['api'],
    task.GenerationsRequestSchema,
    task.GenerationsReplySchema,
  ),
  taskView: request('taskView', 'task.view', 'orchestrator', ['api'], task.ViewRequestSchema, task.ViewReplySchema, {
    deadlineMs: 10_000,
  }),
  taskDiff: request('taskDiff', 'task.diff', 'orchestrator', ['api'], task.DiffRequestSchema, task.DiffReplySchema, {
    deadlineMs: 20_000,
  }),
  taskStop: request('taskStop', 'task.stop', 'orchestrator', ['orchestrator'], task.StopRequestSchema, task.StopReplySchema, {
    deadlineMs: 1_000,
    fanOut: true,
    answeredBy: ['provider-gateway', 'tool-runner', 'compactor'],
  }),
  taskStep: command('taskStep', 'task.step', 'orchestrator', ['orchestrator'], task.StepSchema),
  taskChanged: event('taskChanged', 'task.changed', 'orchestrator', ['api'], task.ChangedSchema),

  // model calls
  llmComplete: request(
    'llmComplete',
    'llm.complete',
    'provider-gateway',
    ['orchestrator', 'compactor'],
    llm.CompleteRequestSchema,
    llm.CompleteReplySchema,
    { deadlineMs: 900_000, long: true },
  ),
  llmAttempts: request(
    'llmAttempts',
    'llm.attempts',
    'provider-gateway',
    ['api'],
    llm.AttemptsRequestSchema,
    llm.AttemptsReplySchema,
  ),
  liveDelta: live('liveDelta', 'live.delta', 'provider-gateway', ['api'], llm.DeltaSchema),
  providerListModels: request(
    'providerListModels',
    'provider.list_models',
    'provider-gateway',
    ['model-registry'],
    provider.ListModelsRequestSchema,
    provider.ListModelsReplySchema,
    { deadlineMs: 20_000 },
  ),
  providerStatus: request(
    'providerStatus',
    'provider.status',
    'provider-gateway',
    ['api'],
    provider.StatusRequestSchema,
    provider.StatusReplySchema,
  ),

  // model windows
  windowResolve: request(
    'windowResolve',
    'window.resolve',
    'model-registry',
    ['api', 'orchestrator', 'compactor', 'provider-gateway'],
    registry.WindowRequestSchema,
    registry.WindowReplySchema,
  ),
  windowList: request(
    'windowList',
    'window.list',
    'model-registry',
    ['api'],
    registry.ListWindowsRequestSchema,
    registry.ListWindowsReplySchema,
    { deadlineMs: 30_000 },
  ),
  windowOverride: request(
    'windowOverride',
    'window.override',
    'model-registry',
    ['api'],
    registry.SetOverrideRequestSchema,
    registry.SetOverrideReplySchema,
  ),
  windowObserved: command(
    'windowObserved',
    'window.observed',
    'model-registry',
    ['provider-gateway', 'orchestrator'],
    registry.ObservedSchema,
  ),
  windowChanged: event(
    'windowChanged',
    'window.changed',
    'model-registry',
    ['orchestrator', 'api'],
    registry.WindowChangedSchema,
  ),

  // tools and workspaces
  toolRun: command('toolRun', 'tool.run', 'tool-runner', ['orchestrator'], tool.RunSchema, 'runner'),
  toolClaim: request('toolClaim', 'tool.claim', 'orchestrator', ['tool-runner'], tool.ClaimRequestSchema, tool.ClaimReplySchema),
  toolFinished: command('toolFinished', 'tool.finished', 'orchestrator', ['tool-runner'], tool.FinishedSchema),
  toolOutput: live('toolOutput', 'live.tool_output', 'tool-runner', ['api'], tool.OutputSchema),
  runnerAnnounce: request(
    'runnerAnnounce',
    'runner.announce',
    'orchestrator',
    ['tool-runner'],
    tool.AnnounceRequestSchema,
    tool.AnnounceReplySchema,
  ),
  workspaceOpen: request(
    'workspaceOpen',
    'workspace.open',
    'tool-runner',
    ['orchestrator'],
    tool.WorkspaceOpenRequestSchema,
    tool.WorkspaceOpenReplySchema,
    { deadlineMs: 120_000, long: true, key: 'runner' },
  ),
  workspaceRead: request(
    'workspaceRead',
    'workspace.read',
    'tool-runner',
    ['orchestrator'],
    tool.WorkspaceReadRequestSchema,
    tool.WorkspaceReadReplySchema,
    { deadlineMs: 2_000, key: 'runner' },
  ),
  workspaceDiff: request(
    'workspaceDiff',
    'workspace.diff',
    'tool-runner',
    ['orchestrator'],
    tool.WorkspaceDiffRequestSchema,
    tool.WorkspaceDiffReplySchema,
    { deadlineMs: 15_000, key: 'runner' },
  ),
  workspaceClose: request(
    'workspaceClose',
    'workspace.close',
    'tool-runner',
    ['orchestrator'],
    tool.WorkspaceCloseRequestSchema,
    tool.WorkspaceCloseReplySchema,
    { deadlineMs: 30_000, key: 'runner' },
  ),

  // compaction
  compactionRun: command('compactionRun', 'compaction.run', 'compactor', ['orchestrator'], compaction.RunRequestSchema),
  compactionClaim: request(
    'compactionClaim',
    'compaction.claim',
    'orchestrator',
    ['compactor'],
    compaction.ClaimRequestSchema,
    compaction.ClaimReplySchema,
  ),
  compactionFinished: command(
    'compactionFinished',
    'compaction.finished',
    'orchestrator',
    ['compactor'],
    compaction.FinishedSchema,
  ),
  transcriptFetch: request(
    'transcriptFetch',
    'transcript.fetch',
    'orchestrator',
    ['compactor'],
    compaction.TranscriptRequestSchema,
    compaction.TranscriptReplySchema,
    { deadlineMs: 10_000 },
  ),

  // tool results
  toolresultPut: request(
    'toolresultPut',
    'toolresult.put',
    'tool-result-store',
    ['compactor', 'tool-runner', 'orchestrator'],
    toolresult.PutRequestSchema,
    toolresult.PutReplySchema,
    { deadlineMs: 10_000 },
  ),
  toolresultGet: request(
    'toolresultGet',
    'toolresult.get',
    'tool-result-store',
    ['compactor', 'tool-runner', 'orchestrator', 'api'],
    toolresult.GetRequestSchema,
    toolresult.GetReplySchema,
    { deadlineMs: 10_000 },
  ),
  toolresultRestore: request(
    'toolresultRestore',
    'toolresult.restore',
    'tool-result-store',
    ['orchestrator', 'api'],
    toolresult.RestoreRequestSchema,
    toolresult.RestoreReplySchema,
    { deadlineMs: 10_000 },
  ),
  toolresultStat: request(
    'toolresultStat',
    'toolresult.stat',
    'tool-result-store',
    ['orchestrator', 'compactor', 'api'],
    toolresult.StatRequestSchema,
    toolresult.StatReplySchema,
  ),
  toolresultRootEnded: command(
    'toolresultRootEnded',
    'toolresult.root_ended',
    'tool-result-store',
    ['orchestrator'],
    toolresult.RootEndedSchema,
  ),

  // dead letters
  deadletterPut: request(
    'deadletterPut',
    'deadletter.put',
    'orchestrator',
    everyone,
    deadletter.PutRequestSchema,
    deadletter.PutReplySchema,
  ),
  deadletterList: request(
    'deadletterList',
    'deadletter.list',
    'orchestrator',
    ['api'],
    deadletter.ListRequestSchema,
    deadletter.ListReplySchema,
  ),
  deadletterResolve: request(
    'deadletterResolve',
    'deadletter.resolve',
    'orchestrator',
    ['api'],
    deadletter.ResolveRequestSchema,
    deadletter.ResolveReplySchema,
  ),
} as const;

export type RouteName = keyof typeof routes;

const byBase = new Map<string, Route>(Object.values(routes).map((route) => [route.subject, route]));

/** The route a concrete subject belongs to, key included or not; undefined for a foreign subject. */
export function routeOfSubject(subject: string): Route | undefined {
  const exact = byBase.get(subject);
  if (exact) return exact;
  const end = subject.indexOf(`.${version}.`);
  return end < 0 ? undefined : byBase.get(subject.slice(0, end + version.length + 1));
}

/**
 * The concrete subject of a route.
 * @param key the runner id, or `<team>.<task>`; must be given exactly when the route has a key.
 */
export function subjectOf(route: Route, key?: string): string {
  if (route.key === 'none') {
    if (key !== undefined) throw new RangeError(`${route.name} takes no key, got ${key}`);
    return route.subject;
  }
  if (!key || !/^[\w-]+(\.[\w-]+)*$/.test(key)) {
    throw new RangeError(`${route.name} needs a ${route.key} of letters, digits, - and _, got ${JSON.stringify(key)}`);
  }
  return `${route.subject}.${key}`;
}
