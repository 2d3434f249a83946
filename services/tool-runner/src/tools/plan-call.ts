import { isWorkspaceTool, NightshiftError, workspaceTools, type WorkspaceToolName } from '@nightshift/contracts';
import { commandOutput, stopCommand } from './background-commands';
import { editFile } from './edit-file';
import { listFiles } from './list-files';
import { readFile } from './read-file';
import { runCommand } from './run-command';
import { searchFiles } from './search-files';
import type { Plan, PlanTool, ToolContext } from './tool';
import { writeFile } from './write-file';

const planners: { [Name in WorkspaceToolName]: PlanTool<Name> } = {
  read_file: readFile,
  write_file: writeFile,
  edit_file: editFile,
  list_files: listFiles,
  search_files: searchFiles,
  run_command: runCommand,
  command_output: commandOutput,
  stop_command: stopCommand,
};

/**
 * Validates a call and plans it.
 * Throws INVALID_ARGUMENT listing every fault of the arguments, or what the tool itself refuses; the texts are for the model.
 */
export async function planCall(name: string, argumentsJson: string, context: ToolContext): Promise<Plan> {
  if (!isWorkspaceTool(name)) {
    throw new NightshiftError(
      'INVALID_ARGUMENT',
      `there is no tool ${JSON.stringify(name)}; known: ${Object.keys(planners).join(', ')}`,
    );
  }
  const planner = planners[name] as PlanTool<WorkspaceToolName>;
  return planner(parseArguments(name, argumentsJson), context);
}

/** Throws INVALID_ARGUMENT with one line per fault. */
export function parseArguments<Name extends WorkspaceToolName>(name: Name, json: string) {
  let value: unknown;
  try {
    value = JSON.parse(json === '' ? '{}' : json);
  } catch (error) {
    throw new NightshiftError('INVALID_ARGUMENT', `the arguments of ${name} are not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const parsed = workspaceTools[name].arguments.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(
    (issue) => `${issue.path.map(String).join('.') || 'arguments'}: ${issue.message.replace(/^Invalid input: /, '')}`,
  );
  throw new NightshiftError('INVALID_ARGUMENT', `${name} was called with wrong arguments\n${faults.join('\n')}`, { faults });
}
