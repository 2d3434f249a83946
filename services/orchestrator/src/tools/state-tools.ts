import type { GoalCriterion, PlanStep, TaskDetails } from '../tasks/task-details';
import type { StateToolArguments, StateToolName } from './state-tool-table';

/** What a state tool does to the task, and what the model reads about it. */
export interface StateToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  readonly details?: Partial<Pick<TaskDetails, 'criteria' | 'plan' | 'question' | 'result'>>;
  /** The task parks until the user answers. */
  readonly waits?: boolean;
  /** The task is done. */
  readonly finishes?: boolean;
  /** The text must be fetched from the tool-result store first. */
  readonly restores?: StateToolArguments<'restore_tool_result'>;
}

type Known = Pick<TaskDetails, 'criteria' | 'plan'>;
type Handler<Name extends StateToolName> = (details: Known, given: StateToolArguments<Name>) => StateToolAnswer;

const handlers: { readonly [Name in StateToolName]: Handler<Name> } = {
  update_plan: (_details, { items }) => ({
    text: `Plan saved: ${items.filter(({ state }) => state === 'done').length} of ${items.length} steps done.`,
    isError: false,
    details: { plan: items },
  }),

  set_goal: (details, given) => {
    const criteria = replaceOpen(details.criteria, given.criteria);
    return { text: `Criteria:\n${criteriaText(criteria)}`, isError: false, details: { criteria } };
  },

  mark_criterion: (details, { id, evidence }) => {
    const known = details.criteria.find((criterion) => criterion.id === id);
    if (!known) return refuse(`There is no criterion "${id}". Criteria:\n${criteriaText(details.criteria)}`);
    if (known.done) return { text: `Criterion ${id} was marked done before; its evidence stays.`, isError: false };
    const criteria = details.criteria.map((criterion) =>
      criterion.id === id ? { ...criterion, done: true, evidence } : criterion,
    );
    const open = criteria.filter(({ done }) => !done);
    const rest = open.length === 0 ? 'All criteria are done: call finish.' : `Open:\n${criteriaText(open)}`;
    return { text: `Criterion ${id} is done. ${rest}`, isError: false, details: { criteria } };
  },

  ask_user: (_details, { question }) => ({
    text: 'The question was put to the user. The answer follows as the next user message.',
    isError: false,
    details: { question },
    waits: true,
  }),

  restore_tool_result: (_details, given) => ({ text: '', isError: false, restores: given }),

  finish: (details, { result }) => {
    const open = details.criteria.filter(({ done }) => !done);
    if (open.length > 0) {
      return refuse(
        `Not finished: ${open.length} of ${details.criteria.length} criteria are open. Meet each and mark it with mark_criterion and evidence, then call finish again. Open:\n${criteriaText(open)}`,
      );
    }
    return { text: 'Finished.', isError: false, details: { result }, finishes: true };
  },
};

/** Answers one validated call of a state tool. Pure: the caller records what it returns. */
export function runStateTool(details: Known, name: StateToolName, given: unknown): StateToolAnswer {
  // The arguments were validated against the schema of this very name.
  const handler = handlers[name] as (details: Known, given: unknown) => StateToolAnswer;
  return handler(details, given);
}

/** One line per criterion, as the model sees them everywhere. */
export function criteriaText(criteria: readonly GoalCriterion[]): string {
  if (criteria.length === 0) return '(none)';
  return criteria.map(({ id, text, done }) => `[${done ? 'x' : ' '}] ${id}: ${text}`).join('\n');
}

/** One line per step of the plan. */
export function planText(plan: readonly PlanStep[]): string {
  const marks = { todo: ' ', doing: '>', done: 'x' } as const;
  return plan.map(({ text, state }) => `[${marks[state]}] ${text}`).join('\n');
}

/** Fresh criteria with ids c1, c2, … */
export function newCriteria(texts: readonly string[]): readonly GoalCriterion[] {
  return replaceOpen([], texts);
}

function replaceOpen(before: readonly GoalCriterion[], texts: readonly string[]): readonly GoalCriterion[] {
  const kept = before.filter(({ done }) => done);
  // Ids are never given twice, so that evidence and events name one criterion for good.
  const last = Math.max(0, ...before.map(({ id }) => Number(id.slice(1))));
  return [...kept, ...texts.map((text, index) => ({ id: `c${last + index + 1}`, text, done: false, evidence: '' }))];
}

function refuse(text: string): StateToolAnswer {
  return { text, isError: true };
}
