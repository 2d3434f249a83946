import { z } from 'zod';

interface StateTool<Arguments extends z.ZodType = z.ZodType> {
  /** What the model reads about the tool. */
  readonly description: string;
  readonly arguments: Arguments;
}

function define<Arguments extends z.ZodType>(description: string, argumentsSchema: Arguments): StateTool<Arguments> {
  return { description, arguments: argumentsSchema };
}

/**
 * Tools that change the task itself and run inside the orchestrator. A changed text or schema changes the request
 * prefix and so empties prompt caches.
 */
export const stateTools = {
  update_plan: define(
    'Replaces the plan: a short checklist of the steps you intend to take. It survives compaction word for word.',
    z.strictObject({
      items: z
        .array(z.strictObject({ text: z.string().min(1).max(500), state: z.enum(['todo', 'doing', 'done']) }))
        .min(1)
        .max(50),
    }),
  ),
  set_goal: define(
    'Replaces the open criteria by which the task counts as done. Criteria that are marked done stay. Each criterion must be checkable.',
    z.strictObject({ criteria: z.array(z.string().min(1).max(1_000)).min(1).max(50) }),
  ),
  mark_criterion: define(
    'Marks one criterion as done. Evidence is required: what you ran or read and what it showed.',
    z.strictObject({
      id: z.string().min(1).describe('The id shown with the criterion, for example c1.'),
      evidence: z.string().trim().min(10, 'expected at least 10 characters that say what proves it').max(4_000),
    }),
  ),
  ask_user: define(
    'Asks the user one question and waits for the answer. Use it only when you cannot go on without it.',
    z.strictObject({ question: z.string().trim().min(1).max(4_000) }),
  ),
  restore_tool_result: define(
    'Brings back a stored tool result or message by the id shown in its placeholder: whole, a range of it, or the lines that match.',
    z.strictObject({
      id: z.string().min(1).max(200),
      offset: z.int().min(0).optional().describe('First character to return.'),
      limit: z.int().min(1).optional().describe('Number of characters to return.'),
      search: z.string().min(1).max(500).optional().describe('Return only lines that contain this text, with line numbers.'),
    }),
  ),
  finish: define(
    'Ends the task. Refused while criteria are open. The result is what the user reads: what was done and how it was checked.',
    z.strictObject({ result: z.string().trim().min(1).max(20_000) }),
  ),
} as const;

export type StateToolName = keyof typeof stateTools;
export type StateToolArguments<Name extends StateToolName> = z.infer<(typeof stateTools)[Name]['arguments']>;

export function isStateTool(name: string): name is StateToolName {
  return Object.hasOwn(stateTools, name);
}
