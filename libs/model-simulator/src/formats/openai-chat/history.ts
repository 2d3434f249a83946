import { invalid } from '../../vendors/problem';
import type { HistoryRules } from '../../vendors/vendor';
import type { ChatMessage } from './read';

/** Pairing and order of a chat history, in the words of the vendor whose rules apply. */
export function checkChatHistory(messages: readonly ChatMessage[], rules: HistoryRules): void {
  if (rules === 'lenient') return;
  let open: { at: number; missing: string[]; all: Set<string>; answered: Set<string> } | undefined;
  const close = (): void => {
    if (open !== undefined && open.missing.length > 0) throw unanswered(rules, open.at, open.missing, messages.length);
    open = undefined;
  };
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      if (open?.answered.has(message.callId) === true) throw duplicated(rules, message.callId, index);
      if (open === undefined || !open.all.has(message.callId)) throw orphaned(rules, index);
      open.answered.add(message.callId);
      open.missing = open.missing.filter((id) => id !== message.callId);
      return;
    }
    const afterResults = open !== undefined;
    close();
    if (rules === 'mistral' && message.role === 'user' && afterResults)
      throw invalid("Unexpected role 'user' after role 'tool'", undefined, '3230');
    if (message.calls.length > 0) {
      const ids = message.calls.map((call) => call.id);
      if (new Set(ids).size < ids.length) throw duplicated(rules, ids.find((id, at) => ids.indexOf(id) !== at) ?? '', index);
      if (rules === 'mistral') checkMistralIds(ids);
      open = { at: index, missing: ids, all: new Set(ids), answered: new Set() };
    }
  });
  close();
  if (rules === 'mistral' && messages.at(-1)?.role === 'assistant')
    throw invalid(
      'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
      undefined,
      '3230',
    );
}

function checkMistralIds(ids: readonly string[]): void {
  for (const id of ids)
    if (!/^[a-zA-Z0-9]{9}$/.test(id))
      throw invalid(`Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`, undefined, '3280');
}

function unanswered(rules: HistoryRules, index: number, ids: readonly string[], length: number): Error {
  switch (rules) {
    case 'mistral':
      return invalid('Not the same number of function calls and responses', undefined, '3230');
    case 'gemini':
      return invalid(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
    case 'deepseek':
      return invalid('insufficient tool messages following tool_calls message');
    case 'openai':
    case 'anthropic':
    case 'lenient':
      return invalid(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
        `messages.[${Math.min(index + 1, length - 1)}].role`,
      );
  }
}

function orphaned(rules: HistoryRules, index: number): Error {
  switch (rules) {
    case 'mistral':
      return invalid("Unexpected role 'tool' after role 'user'", undefined, '3230');
    case 'gemini':
      return invalid('Please ensure that function response turn comes immediately after a function call turn.');
    case 'openai':
    case 'anthropic':
    case 'deepseek':
    case 'lenient':
      return invalid(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        `messages.[${index}].role`,
      );
  }
}

function duplicated(rules: HistoryRules, id: string, index: number): Error {
  return rules === 'mistral'
    ? invalid('Not the same number of function calls and responses', undefined, '3230')
    : invalid(`Duplicate value for 'tool_call_id' of '${id}' in message[${index}]`, `messages.[${index}].tool_call_id`);
}
