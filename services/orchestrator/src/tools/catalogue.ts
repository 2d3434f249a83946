import { create } from '@bufbuild/protobuf';
import { isWorkspaceTool, tool, transcript, workspaceTools } from '@nightshift/contracts';
import type { ToolEffect } from '@nightshift/contracts';
import { z } from 'zod';
import { isStateTool, stateTools } from './state-tool-table';

const effects: Record<ToolEffect, tool.Effect> = {
  'read-only': tool.Effect.READ_ONLY,
  keyed: tool.Effect.KEYED,
  effectful: tool.Effect.EFFECTFUL,
};

export interface KnownTool {
  readonly place: 'state' | 'runner';
  readonly effect: tool.Effect;
  readonly arguments: z.ZodType;
}

/** The tool of that name; undefined for a name the model made up. */
export function knownTool(name: string): KnownTool | undefined {
  if (isStateTool(name)) return { place: 'state', effect: tool.Effect.READ_ONLY, arguments: stateTools[name].arguments };
  if (!isWorkspaceTool(name)) return undefined;
  const { effect, arguments: schema } = workspaceTools[name];
  return { place: 'runner', effect: effects[effect], arguments: schema };
}

export const toolNames: readonly string[] = [...Object.keys(workspaceTools), ...Object.keys(stateTools)];

const schemas: readonly transcript.ToolSchema[] = Object.entries({ ...workspaceTools, ...stateTools }).map(([name, known]) =>
  create(transcript.ToolSchemaSchema, {
    name,
    description: known.description,
    inputSchemaJson: JSON.stringify(withoutDialect(z.toJSONSchema(known.arguments))),
  }),
);

/** Providers refuse or ignore the dialect marker, and it costs tokens in every request. */
function withoutDialect(schema: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
}

/**
 * The schemas a task offers to the model, always in the order of the table, since a changed order breaks prompt caches.
 * @param names the task's own choice; empty = all. Without a workspace only state tools are offered.
 */
export function toolSchemas(names: readonly string[], hasWorkspace: boolean): readonly transcript.ToolSchema[] {
  return schemas.filter(
    ({ name }) => (hasWorkspace || isStateTool(name)) && (names.length === 0 || names.includes(name) || name === 'finish'),
  );
}

export type ParsedArguments = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: string };

/** Checks the arguments of a call. The fault is written for the model: every problem, where, and what was expected. */
export function parseArguments(name: string, argumentsJson: string): ParsedArguments {
  const known = knownTool(name);
  if (!known) return { ok: false, fault: `There is no tool "${name}". Tools: ${toolNames.join(', ')}.` };
  let raw: unknown;
  try {
    raw = JSON.parse(argumentsJson === '' ? '{}' : argumentsJson);
  } catch (error) {
    return {
      ok: false,
      fault: `The arguments of ${name} are not valid JSON (${(error as Error).message}). Send the call again.`,
    };
  }
  const parsed = known.arguments.safeParse(raw);
  if (parsed.success) return { ok: true, value: parsed.data };
  const faults = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || '(arguments)'}: ${message}`);
  return {
    ok: false,
    fault: `The arguments of ${name} are wrong. ${faults.join('; ')}. Send the call again with this corrected.`,
  };
}
