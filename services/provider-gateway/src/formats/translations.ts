import { transcript } from '@nightshift/contracts';
import type { BuildOptions } from './format';

/** Collects what a target cannot take, one line per kind with a count, in first-seen order. */
export class Translations {
  private readonly counts = new Map<string, number>();

  add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  lines(): string[] {
    return [...this.counts].map(([what, count]) => (count === 1 ? what : `${what} (${count} times)`));
  }
}

/**
 * True when a reasoning block goes back to its signer. It belongs to the provider and model that signed it; everywhere
 * else it is dropped whole, since a changed or foreign signature makes the provider refuse the request for good.
 */
export function keepsReasoning(reasoning: transcript.Reasoning, options: BuildOptions, notes: Translations): boolean {
  if (options.dropReasoning) {
    notes.add('dropped a reasoning block after its signature was refused');
    return false;
  }
  if (
    reasoning.provider === options.provider &&
    reasoning.model === options.model &&
    (reasoning.signature || reasoning.opaqueJson)
  ) {
    return true;
  }
  if (reasoning.signature || reasoning.opaqueJson)
    notes.add(`dropped a reasoning block signed by ${reasoning.provider}/${reasoning.model}`);
  return false;
}

/** The text of parts, and their images apart. */
export function splitParts(parts: readonly transcript.Part[]): { text: string; images: transcript.Image[] } {
  const images: transcript.Image[] = [];
  let text = '';
  for (const part of parts) {
    if (part.kind.case === 'text') text += (text ? '\n' : '') + part.kind.value;
    else if (part.kind.case === 'image') images.push(part.kind.value);
  }
  return { text, images };
}

/** A data URL as chat completions and Responses take it. */
export function dataUrl(image: transcript.Image): string {
  return `data:${image.mediaType};base64,${base64(image)}`;
}

export function base64(image: transcript.Image): string {
  return Buffer.from(image.data.buffer, image.data.byteOffset, image.data.byteLength).toString('base64');
}

/** Arguments as an object; formats that take no text get other JSON wrapped, which is reported. */
export function argumentsObject(json: string, notes: Translations): Record<string, unknown> {
  try {
    const parsed: unknown = json.trim() === '' ? {} : JSON.parse(json);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Record<string, unknown>;
  } catch {
    // Falls through: the model itself wrote malformed arguments, and the history must still be accepted.
  }
  notes.add('wrapped tool-call arguments that are no JSON object');
  return { malformed_arguments: json };
}

/** Schemas parsed so far, by their text: a task sends the same few with every request. */
const schemas = new Map<string, Readonly<Record<string, unknown>>>();
const schemasKept = 500;

/** The schema of a tool; it was checked when the tool was declared. Not to be changed: it is shared. */
export function schemaOf({ inputSchemaJson }: transcript.ToolSchema): Readonly<Record<string, unknown>> {
  if (!inputSchemaJson) return { type: 'object', properties: {} };
  let schema = schemas.get(inputSchemaJson);
  if (schema === undefined) {
    schema = JSON.parse(inputSchemaJson) as Record<string, unknown>;
    if (schemas.size >= schemasKept) schemas.clear();
    schemas.set(inputSchemaJson, schema);
  }
  return schema;
}
