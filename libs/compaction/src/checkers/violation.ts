import type { transcript } from '@nightshift/contracts';

/** One way in which a provider would refuse a view. */
export interface Violation {
  readonly rule: string;
  /** Where: `messages[3].blocks[1]`. */
  readonly at: string;
  readonly detail: string;
}

export interface CheckOptions {
  /** The view is about to be sent: it must end with something the model can answer. */
  readonly sending?: boolean;
}

/** Collects violations with their places. */
export class Findings {
  readonly list: Violation[] = [];

  add(rule: string, at: string, detail: string): void {
    this.list.push({ rule, at, detail });
  }
}

export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Every text of a view, with its place. */
export function* textsOf(view: transcript.View): Generator<{ readonly at: string; readonly text: string }> {
  yield { at: 'system', text: view.system };
  for (const [i, tool] of view.tools.entries()) yield { at: `tools[${i}]`, text: tool.description };
  for (const [i, { body }] of view.messages.entries()) {
    if (body.case === 'user') yield* partTexts(body.value.parts, `messages[${i}]`);
    if (body.case === 'toolResults') {
      for (const [j, result] of body.value.results.entries()) yield* partTexts(result.parts, `messages[${i}].results[${j}]`);
    }
    if (body.case !== 'assistant') continue;
    for (const [j, { kind }] of body.value.blocks.entries()) {
      const at = `messages[${i}].blocks[${j}]`;
      if (kind.case === 'text') yield { at, text: kind.value };
      if (kind.case === 'toolCall') yield { at, text: kind.value.argumentsJson };
      if (kind.case === 'reasoning') yield { at, text: kind.value.text };
    }
  }
}

function* partTexts(parts: readonly transcript.Part[], at: string): Generator<{ readonly at: string; readonly text: string }> {
  for (const [i, { kind }] of parts.entries()) if (kind.case === 'text') yield { at: `${at}.parts[${i}]`, text: kind.value };
}

/** Half of a surrogate pair makes the request invalid JSON for every provider. */
export function checkTexts(view: transcript.View, findings: Findings): void {
  for (const { at, text } of textsOf(view)) if (!text.isWellFormed()) findings.add('well-formed', at, 'a lone surrogate');
}

export function checkTools(view: transcript.View, findings: Findings, name: RegExp): void {
  const seen = new Set<string>();
  for (const [i, tool] of view.tools.entries()) {
    if (!name.test(tool.name)) findings.add('tool-name', `tools[${i}]`, tool.name);
    if (seen.has(tool.name)) findings.add('tool-unique', `tools[${i}]`, tool.name);
    seen.add(tool.name);
    if (!isJsonObject(tool.inputSchemaJson)) findings.add('tool-schema', `tools[${i}]`, 'not a JSON object');
  }
}
