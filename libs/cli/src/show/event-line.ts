import type { TaskEventJson } from '../client/shapes';
import { bytes, clock, duration, grouped } from './numbers';

type Data = TaskEventJson['data'];

/** Events that only repeat, for people, what another one says. */
const noise: ReadonlySet<string> = new Set(['entry_appended', 'tool_started', 'model_call_started', 'compaction_started']);
/** Tools whose effect has an event of its own. */
const stateTools: ReadonlySet<string> = new Set(['update_plan', 'set_goal', 'mark_criterion', 'ask_user', 'finish']);

/** What each kind of event says in one line; a kind that is not here is shown with its figures. */
const lines: Readonly<Record<string, (data: Data) => string>> = {
  task_created: (data) => `created: ${text(data.goal)}`,
  workspace_opened: (data) =>
    `workspace ${text(data.path)} (${text(data.mode)}, ${data.sandboxed ? 'sandboxed' : 'NOT sandboxed'})`,
  plan_updated: (data) => `plan: ${progress(data.plan, (item) => item.state === 'done', 'steps')}`,
  goal_updated: (data) => `goal: ${progress(data.criteria, (item) => item.done === true, 'criteria')}`,
  criterion_marked: (data) => `criteria: ${progress(data.criteria, (item) => item.done === true, 'criteria')}`,
  question_asked: (data) => `asks: ${text(data.question)}`,
  finished: (data) => `finished: ${text(data.result)}`,
  fallback: (data) =>
    `fallback: ${text(data.from)} → ${text(data.to)} (${text(data.reason)}), window ${number(data.window)}, threshold ${number(data.threshold)}`,
  threshold_hit: (data) =>
    `threshold: ${number(data.measured)} tokens measured, ${number(data.threshold)} allowed, window ${number(data.window)} (${text(data.source)})`,
  compaction_finished: (data) =>
    `compaction ${number(data.generation)}: ${number(data.before)} → ${number(data.after)} tokens, ${text(data.outcome)} (${tiers(data.tiers)}) in ${duration(Number(data.ms))}`,
  guard_told: (data) => `guard: ${text(data.text)}`,
  state_changed: (data) => `now ${text(data.state)}${data.reason ? `: ${text(data.reason)}` : ''}`,
  model_call_failed: (data) =>
    `model call failed: ${text(data.message)}${data.retryInMs ? `; again in ${duration(Number(data.retryInMs))}` : ''}`,
};

/** Shows the events of one task as lines; remembers what a tool was called with until it has finished. */
export class EventLines {
  private readonly called = new Map<string, string>();

  /** The line of an event, with the time in front; undefined for one that says nothing new to people. */
  of(event: TaskEventJson): string | undefined {
    const { kind, data } = event;
    if (kind === 'tool_started') this.called.set(String(data.callId), whatOf(String(data.arguments ?? '')));
    if (noise.has(kind) || (kind === 'tool_finished' && stateTools.has(String(data.tool)))) return undefined;
    const own = lines[kind];
    const said = kind === 'tool_finished' ? this.tool(data) : own ? own(data) : `${kind.replaceAll('_', ' ')}${figures(data)}`;
    return `${clock(event.atMs)}  ${said}`;
  }

  private tool(data: Data): string {
    const id = String(data.callId);
    const what = this.called.get(id) ?? '';
    this.called.delete(id);
    const state = data.state === 'finished' ? '' : ` ${text(data.state).toUpperCase()}`;
    const size = Number(data.chars) > 0 ? `, ${bytes(Number(data.chars))}` : '';
    return `${text(data.tool)}${what ? ` ${what}` : ''}${state}${size}, ${duration(Number(data.ms))}${data.stored ? ', stored' : ''}`;
  }
}

/** The argument that tells most about a call. Events carry the beginning of long arguments only, so this is no JSON parser. */
function whatOf(argumentsJson: string): string {
  for (const name of ['command', 'pattern', 'path', 'id']) {
    const value = new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)`).exec(argumentsJson)?.[1];
    if (value !== undefined) return shorten(value.replaceAll(/\\(["\\/])/g, '$1').replaceAll(/\\[nrt]/g, ' '), 80);
  }
  return '';
}

function progress(list: unknown, done: (item: Data) => boolean, unit: string): string {
  if (!Array.isArray(list)) return 'changed';
  const items = list as Data[];
  const doing = items.find((item) => item.state === 'doing');
  return `${items.filter(done).length} of ${items.length} ${unit} done${doing ? `, now "${text(doing.text)}"` : ''}`;
}

function tiers(list: unknown): string {
  if (!Array.isArray(list)) return 'no tier';
  const applied = (list as Data[]).filter((tier) => tier.outcome === 'applied').map((tier) => text(tier.tier));
  return applied.join(', ') || 'no tier';
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

function number(value: unknown): string {
  return typeof value === 'number' ? grouped(value) : '?';
}

/** One line of at most 160 characters, without control characters: the text may come from a model. */
export function shorten(value: string, limit = 160): string {
  // eslint-disable-next-line no-control-regex -- exactly these must not reach a terminal
  const flat = value.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  return flat.length <= limit ? flat : `${flat.slice(0, limit - 1)}…`;
}
