import { z } from 'zod';
import { SessionBuilder } from '../builder';
import { expectShape, type SessionFile } from '../records';
import { contentParts } from './content-parts';

const file = z.looseObject({
  trajectory: z.array(z.looseObject({ observation: z.string().nullish() })).default([]),
  history: z.array(
    z.looseObject({
      role: z.string(),
      content: z.unknown(),
      thought: z.string().nullish(),
      action: z.string().nullish(),
      tool_calls: z
        .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.unknown() }) }))
        .nullish(),
      tool_call_ids: z.array(z.string()).nullish(),
      is_demo: z.boolean().optional(),
    }),
  ),
});

/**
 * `history` is the chat. The text variant has no calls: an assistant message carries an `action`, and the user message behind
 * it is the observation, so they are paired by place.
 */
export function importSweAgent(source: SessionFile): SessionBuilder {
  const session = new SessionBuilder();
  const { history, trajectory } = expectShape(source, 1, file, source.records[0]?.value);
  let waiting: ReturnType<SessionBuilder['assistant']> | undefined;
  let actions = 0;
  for (const message of history) {
    const parts = contentParts(message.content);
    if (message.role === 'system') session.system = parts.join('\n');
    else if (message.role === 'assistant') {
      const text = parts.map((part) => ({ text: String(part) }));
      const calls = (message.tool_calls ?? []).map((call) => ({
        call: call.id,
        name: call.function.name,
        args: call.function.arguments,
      }));
      const action =
        calls.length === 0 && message.action
          ? [{ call: `action-${++actions}`, name: 'run_action', args: { action: message.action } }]
          : [];
      waiting = session.assistant([...text, ...calls, ...action]);
    } else if (message.role === 'tool') {
      for (const id of message.tool_call_ids ?? []) session.result(id, parts);
    } else if (waiting && session.answerFirst(waiting, parts)) waiting = undefined;
    else session.user(parts);
  }
  // The chat ends with the last action; what it brought stands in the last step only.
  const last = trajectory.at(-1)?.observation;
  if (waiting && last) session.answerFirst(waiting, [last]);
  return session;
}
