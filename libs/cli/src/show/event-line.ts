import type { TaskEventJson } from '../client/shapes';
import { clock, grouped } from './numbers';

type Data = TaskEventJson['data'];

/** What each kind of event says in one line; a kind that is not here is shown with its figures. */
const lines: Readonly<Record<string, (data: Data) => string>> = {
  tool_finished: (data) =>
    `${text(data.tool)} ${text(data.outcome) || 'finished'}${data.bytes ? `, ${grouped(Number(data.bytes))} bytes` : ''}`,
  fallback: (data) => `fallback: ${text(data.from)} → ${text(data.to)} (${text(data.reason)})`,
  guard_told: (data) => `guard: ${text(data.text)}`,
  state_changed: (data) => `now ${text(data.state)}${data.reason ? `: ${text(data.reason)}` : ''}`,
};

/** Events that only repeat, for people, what another one says. */
const noise: ReadonlySet<string> = new Set(['entry_appended', 'tool_started', 'model_call_started']);

export function isNoise(event: Pick<TaskEventJson, 'kind'>): boolean {
  return noise.has(event.kind);
}

/** One line per event, with the time in front. */
export function eventLine(event: TaskEventJson): string {
  const own = lines[event.kind];
  const rest = own ? own(event.data) : `${event.kind.replaceAll('_', ' ')}${figures(event.data)}`;
  return `${clock(event.atMs)}  ${rest}`;
}

function figures(data: Data): string {
  const shown = Object.entries(data).flatMap(([name, value]) => {
    if (typeof value === 'number') return [`${name} ${grouped(value)}`];
    if (typeof value === 'string' && value !== '') return [`${name} ${shorten(value)}`];
    return typeof value === 'boolean' ? [`${name} ${value ? 'yes' : 'no'}`] : [];
  });
  return shown.length > 0 ? `: ${shown.join(', ')}` : '';
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? shorten(String(value)) : '';
}

/** One line of at most 160 characters, without control characters: the text may come from a model. */
export function shorten(value: string, limit = 160): string {
  // eslint-disable-next-line no-control-regex -- exactly these must not reach a terminal
  const flat = value.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  return flat.length <= limit ? flat : `${flat.slice(0, limit - 1)}…`;
}
