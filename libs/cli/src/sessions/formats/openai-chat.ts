import { create } from '@bufbuild/protobuf';
import { z } from 'zod';
import { transcript } from '@nightshift/contracts';
import { SessionBuilder } from '../builder';
import { expectShape, type SessionFile } from '../records';
import { contentParts } from './content-parts';

const message = z.looseObject({
  role: z.string(),
  content: z.unknown(),
  tool_calls: z
    .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.unknown() }) }))
    .nullish(),
  tool_call_id: z.string().nullish(),
  reasoning_content: z.string().nullish(),
});
const tool = z.looseObject({
  function: z.looseObject({ name: z.string(), description: z.string().default(''), parameters: z.unknown() }),
});
const file = z.looseObject({
  messages: z.array(message).optional(),
  traj: z.array(message).optional(),
  tools: z.array(z.unknown()).nullish(),
  response: z.looseObject({ choices: z.array(z.looseObject({ message })).optional(), model: z.string().optional() }).nullish(),
});

/** A list of chat messages, bare or inside a request with its reply. */
export function importOpenAiChat(source: SessionFile): { session: SessionBuilder; tools: transcript.ToolSchema[] } {
  const session = new SessionBuilder();
  const value = source.records[0]?.value;
  const body = Array.isArray(value)
    ? { messages: expectShape(source, 1, z.array(message), value) }
    : expectShape(source, 1, file, value);
  const reply = 'response' in body ? (body.response?.choices?.[0]?.message ?? undefined) : undefined;
  const messages = [...(body.messages ?? ('traj' in body ? body.traj : undefined) ?? []), ...(reply ? [reply] : [])];
  for (const one of messages) {
    const parts = contentParts(one.content);
    switch (one.role) {
      case 'system':
      case 'developer':
        session.system = [session.system, ...parts.map(String)].filter(Boolean).join('\n');
        break;
      case 'assistant': {
        const calls = (one.tool_calls ?? []).map((call) => ({
          call: call.id,
          name: call.function.name,
          args: call.function.arguments,
        }));
        session.assistant([
          ...(one.reasoning_content ? [{ reasoning: one.reasoning_content }] : []),
          ...parts.map((part) => ({ text: String(part) })),
          ...calls,
        ]);
        break;
      }
      case 'tool': {
        const isError = parts.some((part) => typeof part === 'string' && part.startsWith('Error'));
        if (!session.result(one.tool_call_id ?? '', parts, { isError }))
          session.warnings.push(
            `${source.file}: a result for ${one.tool_call_id ?? 'no call'}, which no call waits for; left out`,
          );
        break;
      }
      default:
        session.user(parts);
    }
  }
  const given = 'tools' in body ? (body.tools ?? []) : [];
  const tools = given.flatMap((one) => {
    const parsed = tool.safeParse(one);
    if (!parsed.success) return [];
    const { name, description, parameters } = parsed.data.function;
    return [create(transcript.ToolSchemaSchema, { name, description, inputSchemaJson: JSON.stringify(parameters ?? {}) })];
  });
  return { session, tools };
}
