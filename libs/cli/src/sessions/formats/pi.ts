import { z } from 'zod';
import { SessionBuilder, type BlockInit } from '../builder';
import { expectShape, type SessionFile } from '../records';
import { contentParts } from './content-parts';

const line = z.looseObject({
  type: z.string(),
  timestamp: z.string().optional(),
  message: z.unknown().optional(),
  summary: z.string().optional(),
});
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), content: z.unknown() }),
  z.looseObject({
    role: z.literal('assistant'),
    content: z.array(z.looseObject({ type: z.string() })),
    model: z.string().default(''),
    provider: z.string().default(''),
  }),
  z.looseObject({ role: z.literal('toolResult'), toolCallId: z.string(), content: z.unknown(), isError: z.boolean().optional() }),
  z.looseObject({ role: z.literal('bashExecution'), command: z.string(), output: z.string(), exitCode: z.number().nullish() }),
]);
const text = z.looseObject({ text: z.string() });
const thinking = z.looseObject({ thinking: z.string(), thinkingSignature: z.string().optional() });
const toolCall = z.looseObject({ id: z.string(), name: z.string(), arguments: z.unknown() });

export function importPi(source: SessionFile): SessionBuilder {
  const session = new SessionBuilder();
  for (const { line: number, value } of source.records) {
    const record = expectShape(source, number, line, value);
    const atMs = Date.parse(record.timestamp ?? '') || 0;
    if (record.type === 'compaction') session.note('foreign_summary', record.summary ?? '', atMs);
    if (record.type !== 'message') continue;
    const one = expectShape(source, number, message, record.message);
    switch (one.role) {
      case 'user':
        session.user(contentParts(one.content), atMs);
        break;
      case 'assistant':
        session.assistant(
          one.content.flatMap((block) => assistantBlock(source, number, block)),
          { provider: one.provider, model: one.model, atMs },
        );
        break;
      case 'toolResult':
        if (!session.result(one.toolCallId, contentParts(one.content), { isError: one.isError ?? false })) {
          session.warnings.push(
            `${source.file}:${number}: a result for ${one.toolCallId}, which no call in the file has; left out`,
          );
        }
        break;
      case 'bashExecution':
        // The user's own command, shown to the model as a message.
        session.user([`$ ${one.command}\n${one.output}${one.exitCode ? `\n(exit code ${one.exitCode})` : ''}`], atMs);
        break;
    }
  }
  return session;
}

function assistantBlock(source: SessionFile, number: number, block: { type: string }): BlockInit[] {
  switch (block.type) {
    case 'text':
      return [{ text: expectShape(source, number, text, block).text }];
    case 'thinking': {
      const { thinking: reasoning, thinkingSignature: signature } = expectShape(source, number, thinking, block);
      return [{ reasoning, signature }];
    }
    case 'toolCall': {
      const { id, name, arguments: args } = expectShape(source, number, toolCall, block);
      return [{ call: id, name, args }];
    }
    default:
      return [];
  }
}
