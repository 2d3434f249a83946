import type { Api } from '../client/api';
import type { EntryJson, GenerationJson, TaskEventJson, TaskJson, ToolCallJson } from '../client/shapes';
import { compactionsOf, reinjectedOf, secondsBetween, taskOf, type Report } from './report';
import { askedId, restoredBytes, sha256 } from './restored';

export interface Collected {
  report: Omit<Report, 'ok'>;
  /** Calls with an unknown outcome, cancelled ones, and ids that occur twice. */
  traces: number;
}

/** Reads everything that the report says from the HTTP API of the running services. */
export async function collect(
  api: Api,
  id: string,
  events: readonly TaskEventJson[],
  services: readonly string[],
): Promise<Collected> {
  const path = `/v1/tasks/${id}`;
  const task = await api.get<TaskJson>(path);
  const { generations } = await api.get<{ generations: GenerationJson[] }>(`${path}/generations`);
  const { calls } = await api.get<{ calls: ToolCallJson[] }>(`${path}/tool-calls`, { query: { limit: 1000 } });
  const restores = await restoresOf(api, id, calls);
  const report = {
    seconds: secondsBetween(task.createdAtMs, task.endedAtMs || task.updatedAtMs),
    services: [...services],
    task: taskOf(task),
    thresholdHits: task.thresholdHits,
    compactions: compactionsOf(generations),
    fallbacks: events.filter((event) => event.kind === 'fallback').map((event) => fallbackOf(event.data)),
    restores,
    reinjected: reinjectedOf(generations),
  };
  return { report, traces: tracesOf(calls) };
}

function fallbackOf(data: TaskEventJson['data']): Report['fallbacks'][number] {
  const { from, to, reason, window, threshold } = data as Report['fallbacks'][number];
  return { from, to, reason, window, threshold };
}

/** What a killed process would leave behind: an outcome that nobody knows. */
export function tracesOf(calls: ReadonlyArray<Pick<ToolCallJson, 'callId' | 'state'>>): number {
  const lost = calls.filter((call) => call.state === 'unknown').length;
  return lost + calls.length - new Set(calls.map((call) => call.callId)).size;
}

/**
 * Every whole restore: the bytes that the model got against the bytes in the store, and both against the hash that was
 * recorded when they were hidden.
 */
async function restoresOf(api: Api, id: string, calls: readonly ToolCallJson[]): Promise<Report['restores']> {
  const asked = calls.filter((call) => call.tool === 'restore_tool_result' && call.state === 'finished');
  const restores: Report['restores'] = [];
  for (const call of asked) {
    const wanted = askedId(call.argumentsJson);
    const text = wanted === undefined ? undefined : await resultTextOf(api, id, call);
    const given = wanted !== undefined && text !== undefined ? restoredBytes(text, wanted) : undefined;
    if (wanted === undefined || given === undefined) continue;
    const stored = await api.bytes(`/v1/tasks/${id}/results/${encodeURIComponent(wanted)}`);
    const matches = sha256(stored.bytes) === stored.sha256 && sha256(given) === stored.sha256;
    restores.push({ id: wanted, bytes: stored.bytes.length, sha256Matches: matches });
  }
  return restores;
}

/** The text that the model read as the result of a call; results follow the entry that holds the call. */
async function resultTextOf(api: Api, id: string, call: ToolCallJson): Promise<string | undefined> {
  const query = { after: call.entrySeq, limit: 100 };
  const { entries } = await api.get<{ entries: EntryJson[] }>(`/v1/tasks/${id}/entries`, { query });
  const found = entries.find((entry) => entry.toolResult?.callId === call.callId)?.toolResult;
  return found?.parts.map((part) => part.text ?? '').join('');
}
