import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';
import type { Json } from '../http/present';

type Schema = { [key: string]: Json };

/**
 * The JSON schemas of what `present` makes of a message, one per message it refers to, by name. Kept beside `present`
 * by a test that checks real messages against them.
 */
export function messageSchemas(root: DescMessage, into: Map<string, Schema> = new Map()): Map<string, Schema> {
  const name = schemaName(root);
  if (into.has(name)) return into;
  const properties: Schema = {};
  const required: string[] = [];
  into.set(name, { type: 'object', properties, required });
  for (const field of root.fields) {
    properties[field.localName] = fieldSchema(field);
    if (!field.oneof && field.fieldKind !== 'message') required.push(field.localName);
    const inner = field.message;
    if (inner) messageSchemas(inner, into);
  }
  return into;
}

/** `nightshift.task.v1.Task` → `TaskTask`: messages of two domains may share a name. */
export function schemaName(desc: DescMessage): string {
  const [, domain = '', , ...names] = desc.typeName.split('.');
  return [domain, ...names].map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('');
}

export function referTo(desc: DescMessage): Schema {
  return { $ref: `#/components/schemas/${schemaName(desc)}` };
}

function fieldSchema(field: DescField): Schema {
  if (field.fieldKind === 'list') return { type: 'array', items: itemSchema(field) };
  if (field.fieldKind === 'map') return { type: 'object', additionalProperties: itemSchema(field) };
  return itemSchema(field);
}

function itemSchema(field: DescField): Schema {
  if (field.message) return referTo(field.message);
  if (field.enum) return { type: 'string', enum: field.enum.values.map((value) => value.localName.toLowerCase()) };
  switch (field.scalar) {
    case ScalarType.STRING:
      return { type: 'string' };
    case ScalarType.BYTES:
      return { type: 'string', contentEncoding: 'base64' };
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: 'number' };
    default:
      return { type: 'integer' };
  }
}
