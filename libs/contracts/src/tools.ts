import { z } from 'zod';

/** What repeating a call may do; decides about a redelivered call that was started and has no result. */
export type ToolEffect = 'read-only' | 'keyed' | 'effectful';

export interface WorkspaceTool<Arguments extends z.ZodType = z.ZodType> {
  readonly effect: ToolEffect;
  /** What the model reads about the tool. */
  readonly description: string;
  readonly arguments: Arguments;
}

function define<Arguments extends z.ZodType>(
  effect: ToolEffect,
  description: string,
  argumentsSchema: Arguments,
): WorkspaceTool<Arguments> {
  return { effect, description, arguments: argumentsSchema };
}

const path = z.string().min(1).describe('Path relative to the root of the workspace.');

/**
 * The tools a runner executes in a workspace: the one table that the orchestrator renders as schemas for the model
 * (`z.toJSONSchema`) and that the runner validates against. A changed text or schema changes the request prefix and so
 * empties prompt caches.
 */
export const workspaceTools = {
  read_file: define(
    'read-only',
    'Reads a file. Long files come in ranges: the answer says which lines it holds and how to go on. Images are shown.',
    z.strictObject({
      path,
      offset: z.int().min(1).optional().describe('First line to return, counted from 1.'),
      limit: z.int().min(1).optional().describe('Number of lines to return.'),
    }),
  ),
  write_file: define(
    'keyed',
    'Creates a file or replaces its whole content. Missing directories are created.',
    z.strictObject({ path, content: z.string() }),
  ),
  edit_file: define(
    'keyed',
    'Replaces an exact piece of text in a file. The file must have been read in this task and be unchanged since. ' +
      'old_text must occur exactly once unless replace_all is set.',
    z.strictObject({
      path,
      old_text: z.string().min(1).describe('Text to replace, exactly as in the file, white space included.'),
      new_text: z.string(),
      replace_all: z.boolean().optional(),
    }),
  ),
  list_files: define(
    'read-only',
    'Lists a directory: names, directories with a trailing slash, sizes in bytes. Ignored files are left out.',
    z.strictObject({
      path: path.optional(),
      depth: z
        .int()
        .min(1)
        .max(20)
        .optional()
        .describe('How many levels to descend; 1 lists only the directory itself (default).'),
      glob: z.string().min(1).optional().describe('Only files that match, for example **/*.ts; looks at every level.'),
    }),
  ),
  search_files: define(
    'read-only',
    'Searches file contents with a regular expression (ripgrep syntax). Answers with path:line:text.',
    z.strictObject({
      pattern: z.string().min(1),
      path: path.optional(),
      glob: z.string().min(1).optional().describe('Only files that match, for example *.ts.'),
      ignore_case: z.boolean().optional(),
      literal: z.boolean().optional().describe('The pattern is plain text.'),
      context: z.int().min(0).max(20).optional().describe('Lines shown before and after each match.'),
      max_results: z.int().min(1).max(2_000).optional().describe('Default 200.'),
    }),
  ),
  run_command: define(
    'effectful',
    'Runs a shell command (bash) in the sandbox, in the workspace. Output and exit status are returned. ' +
      'With background: true it returns a handle at once, for command_output and stop_command.',
    z.strictObject({
      command: z.string().min(1),
      directory: path.optional(),
      timeout_seconds: z.int().min(1).max(3_600).optional().describe('Default 120; the whole process group is ended then.'),
      background: z.boolean().optional(),
    }),
  ),
  command_output: define(
    'read-only',
    'Returns what a background command has written since the last call, and whether it still runs.',
    z.strictObject({
      handle: z.string().min(1),
      wait_seconds: z.int().min(0).max(60).optional().describe('Waits up to this long for new output or the end.'),
    }),
  ),
  stop_command: define(
    'keyed',
    'Ends a background command with everything it started.',
    z.strictObject({ handle: z.string().min(1) }),
  ),
} as const;

export type WorkspaceToolName = keyof typeof workspaceTools;
/** The validated arguments of a tool. */
export type WorkspaceToolArguments<Name extends WorkspaceToolName> = z.infer<(typeof workspaceTools)[Name]['arguments']>;

export function isWorkspaceTool(name: string): name is WorkspaceToolName {
  return Object.hasOwn(workspaceTools, name);
}
