import type { Conversation } from '../../conversation';
import { listOf, objectOf, textOf } from '../../json';
import { spokenTexts, type Step } from '../steps';

export type ItemState = 'todo' | 'doing' | 'done';

export interface Item {
  readonly text: string;
  readonly state: ItemState;
}

const rank: Record<ItemState, number> = { todo: 0, doing: 1, done: 2 };
const marks: Record<string, ItemState> = { ' ': 'todo', '>': 'doing', '~': 'doing', '-': 'doing', x: 'done', X: 'done' };

/** The kinds of steps; the first word of an item says which one it is. */
export const kinds = ['Survey', 'List', 'Batch', 'Search', 'Scripts', 'Restore', 'Verify', 'Close'] as const;
export type Kind = (typeof kinds)[number];

export function kindOf(item: Item): Kind {
  return kinds.find((kind) => item.text.startsWith(kind)) ?? 'Survey';
}

/**
 * The checklist as the transcript shows it, from plan calls and from the block that is put back after a compaction.
 * A state only ever moves forward, so the furthest one seen is the present one, whatever the order of the sightings.
 */
export function planSeen(conversation: Conversation, steps: readonly Step[]): Item[] {
  const seen = new Map<string, ItemState>();
  const see = (text: string, state: ItemState): void => {
    if (!kinds.some((kind) => text.startsWith(`${kind}:`) || text.startsWith(`${kind} `))) return;
    const known = seen.get(text);
    if (known === undefined || rank[state] > rank[known]) seen.set(text, state);
  };
  for (const text of spokenTexts(conversation))
    for (const [, mark = ' ', item = ''] of text.matchAll(/^[ \t]*(?:[-*]\s+|\d+[.)]\s+)?\[([ x>~X-])\]\s+(.+?)\s*$/gm))
      see(item, marks[mark] ?? 'todo');
  for (const step of steps) {
    if (step.call.name !== 'update_plan' || step.result?.isError === true) continue;
    for (const entry of listOf(step.call.arguments['items'])) {
      const { text, state } = objectOf(entry);
      see(textOf(text), state === 'done' || state === 'doing' ? state : 'todo');
    }
  }
  return [...seen].map(([text, state]) => ({ text, state })).sort((one, other) => order(one) - order(other));
}

/** Sightings come in any order; the order of work is the order of kinds, and of numbers within the batches. */
function order(item: Item): number {
  return kinds.indexOf(kindOf(item)) * 1000 + Number(/^Batch (\d+)/.exec(item.text)?.[1] ?? 0);
}

export interface Criterion {
  readonly id: string;
  readonly text: string;
  readonly done: boolean;
}

/** Criteria as lines `[ ] c1: text`, wherever they appear; done stays done. */
export function criteriaSeen(conversation: Conversation, steps: readonly Step[]): Criterion[] {
  const seen = new Map<string, Criterion>();
  const stateTools = new Set(['set_goal', 'mark_criterion', 'finish']);
  const results = steps.filter((step) => stateTools.has(step.call.name)).map((step) => step.result?.text ?? '');
  for (const text of [...spokenTexts(conversation), ...results])
    for (const [, mark, id = '', words = ''] of text.matchAll(/^[ \t]*(?:[-*]\s+)?\[([ x])\]\s+(c\d+):\s*(.+?)\s*$/gm))
      seen.set(id, { id, text: words, done: mark === 'x' || seen.get(id)?.done === true });
  for (const step of steps) {
    const id = textOf(step.call.arguments['id']);
    const known = seen.get(id);
    if (step.call.name === 'mark_criterion' && known !== undefined && step.result?.isError === false)
      seen.set(id, { ...known, done: true });
  }
  return [...seen.values()];
}
