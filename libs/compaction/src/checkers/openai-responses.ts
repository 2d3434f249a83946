import type { transcript } from '@nightshift/contracts';
import { checkTexts, checkTools, Findings, isJsonObject } from './violation';
import type { CheckOptions, Violation } from './violation';

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
const idLimit = 64;

/** The rules of OpenAI Responses: a flat list of items in which each call has its output later, and reasoning its item next. */
export function checkOpenaiResponses(view: transcript.View, options: CheckOptions = {}): Violation[] {
  const findings = new Findings();
  checkTexts(view, findings);
  checkTools(view, findings, toolName);
  const calls = new Map<string, { readonly at: string; outputs: number }>();
  let items = 0;
  for (const [i, { body }] of view.messages.entries()) {
    const at = `messages[${i}]`;
    switch (body.case) {
      case 'user':
        items++;
        if (body.value.parts.length === 0) findings.add('content', at, 'no content');
        break;
      case 'assistant':
        items += readItems(body.value, at, calls, findings);
        break;
      case 'toolResults':
        for (const [j, result] of body.value.results.entries()) {
          items++;
          readOutput(result, `${at}.results[${j}]`, calls, findings);
        }
        break;
      case undefined:
        findings.add('content', at, 'empty item');
    }
  }
  if (items === 0) findings.add('not-empty', 'input', 'no item');
  for (const [id, call] of calls) if (call.outputs === 0) findings.add('output-for-call', call.at, `no output for ${id}`);
  if (options.sending && view.messages.at(-1)?.body.case === 'assistant')
    findings.add('ends-with-user', 'input', 'ends with assistant');
  return findings.list;
}

function readItems(
  message: transcript.AssistantMessage,
  at: string,
  calls: Map<string, { readonly at: string; outputs: number }>,
  findings: Findings,
): number {
  if (message.blocks.length === 0) findings.add('content', at, 'no item');
  for (const [i, { kind }] of message.blocks.entries()) {
    const place = `${at}.blocks[${i}]`;
    switch (kind.case) {
      case 'reasoning': {
        const next = message.blocks[i + 1]?.kind.case;
        if (next === undefined) findings.add('reasoning-followed', place, 'reasoning without its following item');
        break;
      }
      case 'toolCall': {
        const { id, name, argumentsJson } = kind.value;
        if (calls.has(id)) findings.add('call-unique', place, id);
        if (id === '' || id.length > idLimit) findings.add('call-id', place, `length ${id.length}`);
        if (!toolName.test(name)) findings.add('tool-name', place, name);
        if (!isJsonObject(argumentsJson)) findings.add('arguments', place, 'not a JSON object');
        calls.set(id, { at: place, outputs: 0 });
        break;
      }
      case 'text':
        if (kind.value === '') findings.add('content', place, 'empty text');
        break;
      case undefined:
        findings.add('content', place, 'empty item');
    }
  }
  return message.blocks.length;
}

function readOutput(
  result: transcript.ToolResult,
  at: string,
  calls: Map<string, { readonly at: string; outputs: number }>,
  findings: Findings,
): void {
  const call = calls.get(result.callId);
  if (!call) findings.add('call-for-output', at, `no call for output ${result.callId}`);
  else if (++call.outputs > 1) findings.add('output-once', at, `${result.callId} has two outputs`);
}
