import { z } from 'zod';
import { SessionBuilder } from '../builder';
import { expectShape, type SessionFile } from '../records';
import { contentParts } from './content-parts';

const toolCall = z.looseObject({
  id: z.string(),
  name: z.string(),
  args: z.unknown(),
  status: z.string().optional(),
  timestamp: z.string().optional(),
  result: z.unknown(),
});
const file = z.looseObject({
  messages: z.array(
    z.looseObject({
      type: z.string(),
      timestamp: z.string().optional(),
      content: z.unknown(),
      model: z.string().optional(),
      thoughts: z.array(z.looseObject({ subject: z.string().default(''), description: z.string().default('') })).optional(),
      toolCalls: z.array(toolCall).optional(),
    }),
  ),
});
const response = z.looseObject({ functionResponse: z.looseObject({ response: z.unknown() }) });

/** Results stand inside their call. Calls of one record with different times were rounds of their own, not a parallel batch. */
export function importGeminiCli(source: SessionFile): SessionBuilder {
  const session = new SessionBuilder();
  const { messages } = expectShape(source, 1, file, source.records[0]?.value);
  for (const message of messages) {
    const atMs = Date.parse(message.timestamp ?? '') || 0;
    if (message.type !== 'gemini') {
      session.user(contentParts(message.content), atMs);
      continue;
    }
    const options = { provider: 'gemini', model: message.model ?? '', atMs };
    const thoughts = (message.thoughts ?? []).map(({ subject, description }) => ({
      reasoning: [subject, description].filter(Boolean).join('\n'),
    }));
    const text = contentParts(message.content).map((part) => ({ text: String(part) }));
    const byTime = new Map<string, z.output<typeof toolCall>[]>();
    for (const call of message.toolCalls ?? [])
      byTime.set(call.timestamp ?? '', [...(byTime.get(call.timestamp ?? '') ?? []), call]);
    const rounds = [...byTime.values()];
    if (rounds.length === 0) session.assistant([...thoughts, ...text], options);
    for (const [index, round] of rounds.entries()) {
      const calls = round.map(({ id, name, args }) => ({ call: id, name, args }));
      session.assistant(index === 0 ? [...thoughts, ...text, ...calls] : calls, options);
      for (const call of round)
        session.result(call.id, [resultText(call.result)], { isError: call.status !== undefined && call.status !== 'success' });
    }
  }
  return session;
}

function resultText(result: unknown): string {
  const parsed = z.array(response).safeParse(result);
  if (!parsed.success) return typeof result === 'string' ? result : JSON.stringify(result ?? null);
  return parsed.data
    .map(({ functionResponse }) => {
      const output = (functionResponse.response as { output?: unknown } | null)?.output;
      return typeof output === 'string' ? output : JSON.stringify(functionResponse.response);
    })
    .join('\n');
}
