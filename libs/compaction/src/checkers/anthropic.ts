import type { transcript } from '@nightshift/contracts';
import { checkTexts, checkTools, Findings, isJsonObject } from './violation';
import type { CheckOptions, Violation } from './violation';

const toolName = /^[a-zA-Z0-9_-]{1,128}$/;
const callId = /^[a-zA-Z0-9_-]+$/;
const mediaTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** The rules of Anthropic Messages: results answer the assistant message right before them, all of it, once each. */
export function checkAnthropic(view: transcript.View, options: CheckOptions = {}): Violation[] {
  const findings = new Findings();
  checkTexts(view, findings);
  checkTools(view, findings, toolName);
  const { messages } = view;
  if (messages.length === 0) findings.add('not-empty', 'messages', 'no message');
  const first = messages[0]?.body.case;
  if (first !== undefined && first !== 'user') findings.add('first-user', 'messages[0]', first);
  const used = new Set<string>();
  let asked: readonly transcript.ToolCall[] = [];
  for (const [i, { body }] of messages.entries()) {
    const at = `messages[${i}]`;
    if (asked.length > 0 && body.case !== 'toolResults') {
      findings.add(
        'result-follows-call',
        at,
        `calls ${asked.map((call) => call.id).join(', ')} have no result in the next message`,
      );
    }
    switch (body.case) {
      case 'user':
        checkParts(body.value.parts, at, findings, true);
        asked = [];
        break;
      case 'toolResults':
        checkResults(body.value.results, asked, at, findings);
        asked = [];
        break;
      case 'assistant':
        asked = checkAssistant(body.value, at, findings, used, i === messages.length - 1);
        break;
      case undefined:
        findings.add('body', at, 'empty message');
        asked = [];
    }
  }
  if (asked.length > 0) findings.add('result-follows-call', `messages[${messages.length}]`, 'the last calls have no result');
  if (options.sending && messages.at(-1)?.body.case === 'assistant')
    findings.add('ends-with-user', 'messages', 'ends with assistant');
  return findings.list;
}

function checkParts(parts: readonly transcript.Part[], at: string, findings: Findings, needsContent: boolean): void {
  if (needsContent && parts.length === 0) findings.add('content', at, 'no content');
  for (const [i, { kind }] of parts.entries()) {
    if (kind.case === 'text' && kind.value === '') findings.add('text-not-empty', `${at}.parts[${i}]`, 'empty text');
    if (kind.case === 'image' && !mediaTypes.has(kind.value.mediaType)) {
      findings.add('image-type', `${at}.parts[${i}]`, kind.value.mediaType);
    }
    if (kind.case === 'image' && kind.value.data.length === 0) findings.add('image-data', `${at}.parts[${i}]`, 'no data');
    if (kind.case === undefined) findings.add('content', `${at}.parts[${i}]`, 'empty part');
  }
}

function checkResults(
  results: readonly transcript.ToolResult[],
  asked: readonly transcript.ToolCall[],
  at: string,
  findings: Findings,
): void {
  const open = new Set(asked.map((call) => call.id));
  const known = new Set(open);
  if (results.length === 0) findings.add('content', at, 'no results');
  for (const [i, result] of results.entries()) {
    const place = `${at}.results[${i}]`;
    if (!known.has(result.callId))
      findings.add('result-has-call', place, `${result.callId} answers no call of the message before`);
    else if (!open.delete(result.callId)) findings.add('result-once', place, `${result.callId} is answered twice`);
    checkParts(result.parts, place, findings, false);
  }
  if (open.size > 0) findings.add('result-follows-call', at, `no result for ${[...open].join(', ')}`);
}

function checkAssistant(
  message: transcript.AssistantMessage,
  at: string,
  findings: Findings,
  used: Set<string>,
  last: boolean,
): transcript.ToolCall[] {
  const calls: transcript.ToolCall[] = [];
  if (!message.blocks.some(({ kind }) => kind.case === 'text' || kind.case === 'toolCall')) {
    findings.add('content', at, 'neither text nor call');
  }
  for (const [i, { kind }] of message.blocks.entries()) {
    const place = `${at}.blocks[${i}]`;
    if (kind.case === 'text' && kind.value.trim() === '') findings.add('text-not-empty', place, 'text without content');
    if (kind.case === 'reasoning' && kind.value.signature === '' && kind.value.opaqueJson === '' && kind.value.text === '') {
      findings.add('reasoning-whole', place, 'neither text nor signature');
    }
    if (kind.case === undefined) findings.add('content', place, 'empty block');
    if (kind.case !== 'toolCall') continue;
    const call = kind.value;
    calls.push(call);
    if (used.has(call.id)) findings.add('call-unique', place, call.id);
    used.add(call.id);
    if (!callId.test(call.id)) findings.add('call-id', place, call.id);
    if (!toolName.test(call.name)) findings.add('tool-name', place, call.name);
    if (!isJsonObject(call.argumentsJson)) findings.add('arguments', place, 'not a JSON object');
  }
  const end = message.blocks.at(-1);
  // A prefilled answer must not end in white space.
  if (last && end?.kind.case === 'text' && end.kind.value !== end.kind.value.trimEnd()) {
    findings.add('prefill', at, 'ends in white space');
  }
  return calls;
}
