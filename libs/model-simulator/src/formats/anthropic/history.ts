import { invalid } from '../../vendors/problem';
import type { ReadMessage } from './read';

/** The vendor's rules over a whole history: pairing of calls and results, order inside a message, reasoning in an open tool turn. */
export function checkHistory(messages: readonly ReadMessage[], options: { toolsDefined: boolean; thinking: boolean }): void {
  if (messages[0]?.role !== 'user') throw invalid('messages: first message must use the "user" role');
  const seen = new Set<string>();
  let toolBlocks = false;
  messages.forEach((message, index) => {
    const callIds = idsOfCalls(message);
    const resultIds = idsOfResults(message);
    toolBlocks ||= callIds.length + resultIds.length > 0;
    for (const [at, id] of callIds.entries()) {
      if (seen.has(id)) throw invalid(`messages.${index}.content.${at}: \`tool_use\` ids must be unique`);
      seen.add(id);
    }
    checkResults(messages, index);
    checkCalls(messages, index);
    if (message.role === 'assistant') checkReasoning(message, index, isOpenToolTurn(messages, index), options.thinking);
  });
  if (toolBlocks && !options.toolsDefined)
    throw invalid('Requests which include `tool_use` or `tool_result` blocks must define tools');
  const last = messages.at(-1);
  const lastBlock = last?.blocks.at(-1);
  if (last?.role === 'assistant' && lastBlock?.kind === 'text' && /\s$/.test(lastBlock.text))
    throw invalid('messages: final assistant content cannot end with trailing whitespace');
}

function idsOfCalls(message: ReadMessage | undefined): string[] {
  return (message?.blocks ?? []).flatMap((block) => (block.kind === 'call' ? [block.call.id] : []));
}

function idsOfResults(message: ReadMessage | undefined): string[] {
  return (message?.blocks ?? []).flatMap((block) => (block.kind === 'result' ? [block.result.callId] : []));
}

function checkResults(messages: readonly ReadMessage[], index: number): void {
  const message = messages[index];
  const open = new Set(idsOfCalls(messages[index - 1]));
  const answered = new Set<string>();
  message?.blocks.forEach((block, at) => {
    if (block.kind !== 'result') return;
    const id = block.result.callId;
    if (answered.has(id))
      throw invalid(
        `messages.${index}.content.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    if (!open.has(id))
      throw invalid(
        `messages.${index}.content.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    answered.add(id);
  });
}

/** Results must lead the very next message: text before them, or a second message, counts as missing. */
function checkCalls(messages: readonly ReadMessage[], index: number): void {
  const ids = idsOfCalls(messages[index]);
  if (ids.length === 0) return;
  const leading = new Set<string>();
  for (const block of messages[index + 1]?.blocks ?? []) {
    if (block.kind !== 'result') break;
    leading.add(block.result.callId);
  }
  const missing = ids.filter((id) => !leading.has(id));
  if (missing.length > 0)
    throw invalid(
      `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    );
}

/** The assistant message whose tool results end the request: its turn is still going on. */
function isOpenToolTurn(messages: readonly ReadMessage[], index: number): boolean {
  return index === messages.length - 2 && idsOfResults(messages.at(-1)).length > 0;
}

function checkReasoning(message: ReadMessage, index: number, open: boolean, thinking: boolean): void {
  const last = message.blocks.at(-1);
  if (last?.kind === 'reasoning')
    throw invalid(`messages.${index}: The final block in an assistant message cannot be \`thinking\`.`);
  const first = message.blocks[0];
  if (thinking && open && first?.kind !== 'reasoning') {
    const found = first?.kind === 'call' ? 'tool_use' : 'text';
    throw invalid(
      `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). To avoid this requirement, disable \`thinking\`.`,
    );
  }
}
