import { z } from 'zod';
import { SessionBuilder } from '../builder';
import { expectShape, type SessionFile } from '../records';
import { contentParts } from './content-parts';

const file = z.looseObject({
  values: z.looseObject({
    messages: z.array(
      z.looseObject({
        type: z.string(),
        content: z.unknown(),
        tool_calls: z.array(z.looseObject({ id: z.string(), name: z.string(), args: z.unknown() })).nullish(),
        tool_call_id: z.string().nullish(),
        status: z.string().nullish(),
        additional_kwargs: z.looseObject({ reasoning_content: z.string().nullish() }).nullish(),
        response_metadata: z.looseObject({ model_name: z.string().nullish(), model_provider: z.string().nullish() }).nullish(),
      }),
    ),
  }),
});

/** LangChain messages of a LangGraph thread; reasoning there has no signature. */
export function importLangGraph(source: SessionFile): SessionBuilder {
  const session = new SessionBuilder();
  const { values } = expectShape(source, 1, file, source.records[0]?.value);
  for (const message of values.messages) {
    const parts = contentParts(message.content);
    switch (message.type) {
      case 'system':
        session.system = parts.join('\n');
        break;
      case 'ai': {
        const reasoning = message.additional_kwargs?.reasoning_content;
        const options = {
          provider: message.response_metadata?.model_provider ?? '',
          model: message.response_metadata?.model_name ?? '',
        };
        const calls = (message.tool_calls ?? []).map(({ id, name, args }) => ({ call: id, name, args }));
        session.assistant(
          [...(reasoning ? [{ reasoning }] : []), ...parts.map((part) => ({ text: String(part) })), ...calls],
          options,
        );
        break;
      }
      case 'tool':
        if (!session.result(message.tool_call_id ?? '', parts, { isError: message.status === 'error' }))
          session.warnings.push(
            `${source.file}: a result for ${message.tool_call_id ?? 'no call'}, which no call waits for; left out`,
          );
        break;
      default:
        session.user(parts);
    }
  }
  return session;
}
