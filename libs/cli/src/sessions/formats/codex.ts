import { z } from 'zod';
import { SessionBuilder } from '../builder';
import { expectShape, type SessionFile } from '../records';
import { contentParts } from './content-parts';

const line = z.looseObject({
  type: z.string(),
  timestamp: z.string().optional(),
  payload: z.looseObject({ type: z.string().optional() }),
});
const meta = z.looseObject({ base_instructions: z.looseObject({ text: z.string() }).nullish() });
const turnContext = z.looseObject({ model: z.string().default('') });
const message = z.looseObject({ role: z.string(), content: z.unknown() });
const call = z.looseObject({
  name: z.string(),
  call_id: z.string(),
  arguments: z.string().optional(),
  input: z.string().optional(),
});
const output = z.looseObject({ call_id: z.string(), output: z.unknown() });

/** Only `response_item` lines are the model's history; `event_msg` lines say the same again for the screen. */
export function importCodex(source: SessionFile): SessionBuilder {
  const session = new SessionBuilder();
  let model = '';
  let turn: ReturnType<SessionBuilder['assistant']> | undefined;
  for (const { line: number, value } of source.records) {
    const { type, payload, timestamp } = expectShape(source, number, line, value);
    if (type === 'session_meta') session.system = expectShape(source, number, meta, payload).base_instructions?.text ?? '';
    if (type === 'turn_context') model = expectShape(source, number, turnContext, payload).model;
    if (type !== 'response_item') continue;
    const options = { provider: 'openai', model, atMs: Date.parse(timestamp ?? '') || 0, turn };
    switch (payload.type) {
      case 'message': {
        const { role, content } = expectShape(source, number, message, payload);
        const parts = contentParts(content);
        if (role === 'assistant')
          turn = session.assistant(
            parts.map((part) => ({ text: String(part) })),
            options,
          );
        else {
          turn = undefined;
          session.user(parts, options.atMs);
        }
        break;
      }
      case 'reasoning':
        // Encrypted: kept whole and in place.
        turn = session.assistant([{ reasoning: '', opaqueJson: JSON.stringify(payload) }], options);
        break;
      case 'function_call':
      case 'custom_tool_call': {
        const one = expectShape(source, number, call, payload);
        turn = session.assistant([{ call: one.call_id, name: one.name, args: one.arguments ?? one.input ?? '' }], options);
        break;
      }
      case 'function_call_output':
      case 'custom_tool_call_output': {
        turn = undefined;
        const one = expectShape(source, number, output, payload);
        const text = typeof one.output === 'string' ? one.output : JSON.stringify(one.output);
        const exit =
          /^Process exited with code (\d+)$/m.exec(text.split('\nOutput:')[0] ?? '')?.[1] ?? /"exit_code":(\d+)/.exec(text)?.[1];
        if (!session.result(one.call_id, [text], { isError: exit !== undefined && exit !== '0' })) {
          session.warnings.push(`${source.file}:${number}: a result for ${one.call_id}, which no call in the file has; left out`);
        }
        break;
      }
      case 'web_search_call':
        // Ran at the vendor: there is no output item, the model saw the results elsewhere.
        turn = session.assistant([{ text: `[web search: ${JSON.stringify(payload.action ?? null)}]` }], options);
        break;
      default:
        break;
    }
  }
  return session;
}
