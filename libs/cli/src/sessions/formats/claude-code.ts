import { z } from 'zod';
import { SessionBuilder, type BlockInit } from '../builder';
import { expectShape, type SessionFile } from '../records';
import { contentParts } from './content-parts';

const block = z.looseObject({ type: z.string() });
const line = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  timestamp: z.string().optional(),
  isCompactSummary: z.boolean().optional(),
  message: z
    .looseObject({ id: z.string().optional(), model: z.string().optional(), content: z.union([z.string(), z.array(block)]) })
    .optional(),
});
const thinking = z.looseObject({ thinking: z.string(), signature: z.string().default('') });
const toolUse = z.looseObject({ id: z.string(), name: z.string(), input: z.unknown() });
const toolResult = z.looseObject({ tool_use_id: z.string(), content: z.unknown(), is_error: z.boolean().nullish() });

/**
 * Only `user` and `assistant` lines are conversation. One answer is spread over several lines with one `message.id`, and
 * results may stand between them.
 */
export function importClaudeCode(source: SessionFile): SessionBuilder {
  const session = new SessionBuilder();
  const turns = new Map<string, ReturnType<SessionBuilder['assistant']>>();
  for (const { line: number, value } of source.records) {
    const record = expectShape(source, number, line, value);
    if (record.message === undefined || (record.type !== 'user' && record.type !== 'assistant')) continue;
    const { content, id, model = '' } = record.message;
    const atMs = Date.parse(record.timestamp ?? '') || 0;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (record.type === 'assistant') {
      const turn = session.assistant(
        blocks.flatMap((one) => assistantBlock(source, number, one)),
        { provider: 'anthropic', model, atMs, turn: id === undefined ? undefined : turns.get(id) },
      );
      if (id !== undefined) turns.set(id, turn);
      continue;
    }
    const results = blocks.filter(({ type }) => type === 'tool_result');
    for (const one of results) {
      const result = expectShape(source, number, toolResult, one);
      const paired = session.result(result.tool_use_id, contentParts(result.content), { isError: result.is_error ?? false });
      if (!paired)
        session.warnings.push(
          `${source.file}:${number}: a result for ${result.tool_use_id}, which no call in the file has; left out`,
        );
    }
    const parts = contentParts(blocks.filter(({ type }) => type !== 'tool_result'));
    if (record.isCompactSummary)
      session.note('foreign_summary', parts.filter((part) => typeof part === 'string').join('\n'), atMs);
    else session.user(parts, atMs);
  }
  return session;
}

function assistantBlock(source: SessionFile, number: number, one: z.output<typeof block>): BlockInit[] {
  switch (one.type) {
    case 'text':
      return [{ text: expectShape(source, number, z.looseObject({ text: z.string() }), one).text }];
    case 'thinking': {
      const { thinking: reasoning, signature } = expectShape(source, number, thinking, one);
      return [{ reasoning, signature }];
    }
    case 'redacted_thinking':
      return [{ reasoning: '', opaqueJson: JSON.stringify(one) }];
    case 'tool_use': {
      const { id, name, input } = expectShape(source, number, toolUse, one);
      return [{ call: id, name, args: input }];
    }
    default:
      return [];
  }
}
