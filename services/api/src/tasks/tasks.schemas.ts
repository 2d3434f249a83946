import { z } from 'zod';

/** The id of a task. Any text is accepted here: one that cannot be an id is unknown (404), not malformed. */
export const taskParams = z.object({ id: z.string().describe('id of the task') });

export const resultParams = taskParams.extend({ result: z.string().max(200).describe('id of the result') });

const candidate = z
  .string()
  .max(400)
  .regex(/^[\w.-]+\/\S.*$/, 'expected "provider/model"')
  .describe('"provider/model", split at the first slash');

const text = (max: number) => z.string().trim().min(1, 'must not be empty').max(max);

const workspace = z
  .strictObject({
    directory: z.string().startsWith('/', 'expected an absolute path').max(4096).optional(),
    gitUrl: z.string().min(1).max(2048).optional(),
    gitRef: z.string().min(1).max(512).optional(),
    mode: z
      .enum(['worktree', 'in_place', 'copy'])
      .optional()
      .describe('a git directory is used through a worktree unless said otherwise'),
  })
  .refine((value) => (value.directory === undefined) !== (value.gitUrl === undefined), 'expected either directory or gitUrl')
  .refine((value) => value.gitRef === undefined || value.gitUrl !== undefined, 'gitRef needs gitUrl');

const tokens = z.int().min(1).max(100_000_000);

const compactionPolicy = z.strictObject({
  enabled: z.boolean().optional(),
  fraction: z.number().gt(0).lte(1).optional().describe('share of the window at which a task is compacted'),
  cap: tokens.optional().describe('largest threshold, in tokens'),
  floor: tokens.optional().describe('smallest threshold, in tokens'),
  defaultReserve: tokens.optional().describe('tokens kept for output when the task names no output limit'),
  tokenCompression: z.boolean().optional().describe('allow the on-device tier'),
  minRetained: z.int().min(0).max(1000).optional().describe('messages that always stay'),
});

const toolPolicy = z.strictObject({
  allowedHosts: z
    .array(z.string().min(1).max(253))
    .max(100)
    .optional()
    .describe('hosts that commands may reach; none by default'),
  memoryMb: z.int().min(16).max(1_048_576).optional(),
  maxProcesses: z.int().min(1).max(100_000).optional(),
  maxOutputBytes: z.int().min(1024).max(1_073_741_824).optional(),
  environmentAllow: z.array(z.string().regex(/^\w+$/, 'expected the name of a variable')).max(100).optional(),
  allowUnsandboxed: z.boolean().optional().describe('run commands although no sandbox works; needs an admin key'),
});

export const createBody = z.strictObject({
  goal: text(200_000).describe('what is to be reached, in words'),
  criteria: z.array(text(4_000)).max(100).default([]).describe('what must be true before the task may finish'),
  models: z.array(candidate).max(16).optional().describe('the chain of models; the configured default chain when absent'),
  chain: z.string().min(1).max(100).optional().describe('name of a chain of nightshift.yaml, instead of models'),
  workspace: workspace.optional(),
  system: z.string().max(400_000).optional().describe('further instructions in front of everything'),
  tools: z.array(z.string().min(1).max(64)).max(64).optional().describe('only these tools; all of them when absent'),
  maxOutputTokens: tokens.optional(),
  maxIterations: z.int().min(1).max(100_000).optional(),
  compaction: compactionPolicy.optional(),
  toolPolicy: toolPolicy.optional(),
});
export type CreateBody = z.output<typeof createBody>;

const count = (max: number) => z.coerce.number().int().min(1).max(max);
const position = z.coerce.number().int().min(0).max(4_294_967_295);

export const taskStates = [
  'running',
  'compacting',
  'waiting',
  'paused',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
] as const;

export const listQuery = z.strictObject({
  limit: count(200).default(50),
  before: z.string().max(100).optional().describe('id of the last task of the page before'),
  state: z.enum(taskStates).optional(),
  root: z.string().max(100).optional().describe('only this task and what it started'),
});

export const pageQuery = z.strictObject({
  after: position.default(0).describe('sequence number after which to begin'),
  limit: count(1000).default(200),
});

export const viewQuery = z.strictObject({
  generation: position.optional().describe('the view of that compaction; the current one when absent'),
});

export const eventsQuery = z.strictObject({
  after: position.optional().describe('sequence number after which to begin; Last-Event-ID goes first'),
});

export const reasonBody = z.strictObject({ reason: z.string().max(2_000).optional() });
export const emptyBody = z.strictObject({});
export const compactBody = z.strictObject({
  focus: z.string().max(4_000).optional().describe('what the summary should keep above all'),
});

const part = z.union([
  z.strictObject({ text: text(400_000) }),
  z.strictObject({
    image: z.strictObject({
      mediaType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
      data: z.base64().describe('base64'),
    }),
  }),
]);
export const messageBody = z
  .strictObject({ text: text(400_000).optional(), parts: z.array(part).min(1).max(50).optional() })
  .refine((value) => (value.text === undefined) !== (value.parts === undefined), 'expected either text or parts');
export type MessageBody = z.output<typeof messageBody>;
