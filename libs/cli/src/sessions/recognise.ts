import { SessionFault, type SessionFormat } from './session';
import type { SessionFile } from './records';

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** How each format shows itself; the first that fits wins. */
const marks: readonly { format: SessionFormat; shape: SessionFile['shape']; fits: (value: Fields) => boolean }[] = [
  {
    format: 'codex',
    shape: 'lines',
    fits: (value) => value.type === 'session_meta' || (value.type === 'response_item' && isObject(value.payload)),
  },
  {
    format: 'pi',
    shape: 'lines',
    fits: (value) => value.type === 'session' || (value.type === 'message' && isObject(value.message)),
  },
  {
    format: 'claude-code',
    shape: 'lines',
    fits: (value) =>
      'sessionId' in value ||
      (['user', 'assistant'].includes(String(value.type)) && isObject(value.message)) ||
      value.type === 'file-history-snapshot',
  },
  {
    format: 'gemini-cli',
    shape: 'whole',
    fits: (value) => 'sessionId' in value && 'projectHash' in value && Array.isArray(value.messages),
  },
  { format: 'swe-agent', shape: 'whole', fits: (value) => Array.isArray(value.trajectory) && Array.isArray(value.history) },
  {
    format: 'atif',
    shape: 'whole',
    fits: (value) => String(value.schema_version).startsWith('ATIF') || (Array.isArray(value.steps) && isObject(value.agent)),
  },
  { format: 'langgraph', shape: 'whole', fits: (value) => isObject(value.values) && Array.isArray(value.values.messages) },
  { format: 'openai-chat', shape: 'whole', fits: (value) => Array.isArray(value.messages) || Array.isArray(value.traj) },
];

/** Throws SessionFault with the known formats when none fits. */
export function recognise(source: SessionFile): SessionFormat {
  const first = source.records[0]?.value;
  // A bare list of messages is the OpenAI chat form.
  if (source.shape === 'whole' && Array.isArray(first)) return 'openai-chat';
  for (const { format, shape, fits } of marks) {
    if (shape === source.shape && source.records.slice(0, 50).some(({ value }) => isObject(value) && fits(value))) return format;
  }
  throw new SessionFault(
    source.file,
    source.records[0]?.line ?? 1,
    `expected a session of ${marks.map(({ format }) => format).join(', ')}; this is JSON, but none of them`,
  );
}
