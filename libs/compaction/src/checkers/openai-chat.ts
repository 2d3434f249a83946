import type { transcript } from '@nightshift/contracts';
import { checkTexts, checkTools, Findings, isJsonObject } from './violation';
import type { CheckOptions, Violation } from './violation';

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
/** Longer ids are refused by the API. */
const idLimit = 40;
const toolLimit = 128;

/** The rules of OpenAI chat completions: tool messages follow the assistant message whose calls they answer, before anything else. */
export function checkOpenaiChat(view: transcript.View, options: CheckOptions = {}): Violation[] {
  const findings = new Findings();
  checkTexts(view, findings);
  checkTools(view, findings, toolName);
  if (view.tools.length > toolLimit) findings.add('tool-count', 'tools', `${view.tools.length}`);
  if (view.messages.length === 0) findings.add('not-empty', 'messages', 'no message');
  /** Ids that still wait for their tool message. */
  let waiting = new Map<string, string>();
  const answered = new Set<string>();
  for (const [i, { body }] of view.messages.entries()) {
    const at = `messages[${i}]`;
    if (body.case === 'toolResults') {
      readTools(body.value.results, at, waiting, answered, findings);
      continue;
    }
    for (const id of waiting.keys()) findings.add('call-answered', at, `${id} is not answered before this message`);
    waiting = new Map();
    answered.clear();
    if (body.case === 'user') {
      const filled = body.value.parts.some(({ kind }) => kind.case === 'image' || (kind.case === 'text' && kind.value !== ''));
      if (!filled) findings.add('content', at, 'no content');
    } else if (body.case === 'assistant') waiting = readAssistant(body.value, at, findings);
    else findings.add('role', at, 'no role');
  }
  for (const id of waiting.keys()) findings.add('call-answered', 'messages', `${id} is not answered`);
  if (options.sending && view.messages.at(-1)?.body.case === 'assistant')
    findings.add('ends-with-user', 'messages', 'ends with assistant');
  return findings.list;
}

function readAssistant(message: transcript.AssistantMessage, at: string, findings: Findings): Map<string, string> {
  const waiting = new Map<string, string>();
  let said = false;
  for (const [i, { kind }] of message.blocks.entries()) {
    const place = `${at}.blocks[${i}]`;
    if (kind.case === 'text' && kind.value !== '') said = true;
    if (kind.case !== 'toolCall') continue;
    const { id, name, argumentsJson } = kind.value;
    if (waiting.has(id)) findings.add('call-unique', place, id);
    if (id === '' || id.length > idLimit) findings.add('call-id', place, `length ${id.length}`);
    if (!toolName.test(name)) findings.add('tool-name', place, name);
    if (!isJsonObject(argumentsJson)) findings.add('arguments', place, 'not a JSON object');
    waiting.set(id, name);
  }
  if (!said && waiting.size === 0) findings.add('content', at, 'neither content nor tool_calls');
  return waiting;
}

function readTools(
  results: readonly transcript.ToolResult[],
  at: string,
  waiting: Map<string, string>,
  answered: Set<string>,
  findings: Findings,
): void {
  if (results.length === 0) findings.add('content', at, 'no results');
  for (const [i, result] of results.entries()) {
    const place = `${at}.results[${i}]`;
    if (waiting.delete(result.callId)) answered.add(result.callId);
    else if (answered.has(result.callId)) findings.add('result-once', place, result.callId);
    else findings.add('tool-after-call', place, `${result.callId} answers no open call`);
  }
}
