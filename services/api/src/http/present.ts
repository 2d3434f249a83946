import type { DescField, DescMessage, DescOneof } from '@bufbuild/protobuf';

/** JSON as it leaves the HTTP edge. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The one rule by which a message of the bus becomes JSON: camelCase names, enum values in lower case without their
 * prefix, int64 as a number (milliseconds and token counts stay far below 2^53), bytes as base64, a set member of a
 * oneof under its own name, messages only when set, everything else always present.
 */
export function present(desc: DescMessage, message: object): { [key: string]: Json } {
  const source = message as Record<string, unknown>;
  const out: { [key: string]: Json } = {};
  for (const member of desc.members) {
    if (member.kind === 'oneof') {
      const chosen = chosenField(member, source);
      if (chosen) out[chosen.field.localName] = presentField(chosen.field, chosen.value);
    } else {
      const value = source[member.localName];
      if (value !== undefined) out[member.localName] = presentField(member, value);
    }
  }
  return out;
}

function chosenField(oneof: DescOneof, source: Record<string, unknown>): { field: DescField; value: unknown } | undefined {
  const set = source[oneof.localName] as { case?: string; value?: unknown } | undefined;
  const field = oneof.fields.find((candidate) => candidate.localName === set?.case);
  return field && { field, value: set?.value };
}

function presentField(field: DescField, value: unknown): Json {
  switch (field.fieldKind) {
    case 'scalar':
      return presentScalar(value);
    case 'enum':
      return enumName(field, value);
    case 'message':
      return present(field.message, value as object);
    case 'list':
      return (value as unknown[]).map((item) => {
        if (field.listKind === 'message') return present(field.message, item as object);
        return field.listKind === 'enum' ? enumName(field, item) : presentScalar(item);
      });
    case 'map':
      return Object.fromEntries(
        Object.entries(value as Record<string, unknown>).map(([key, item]) => [
          key,
          field.mapKind === 'message' ? present(field.message, item as object) : presentScalar(item),
        ]),
      );
  }
}

function enumName(field: DescField & { enum?: unknown }, value: unknown): string {
  const values = (field as { enum: { value: Record<number, { localName: string } | undefined> } }).enum.value;
  // A value that a newer service sent and this build does not know yet keeps its number.
  return values[value as number]?.localName.toLowerCase() ?? String(value);
}

function presentScalar(value: unknown): Json {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  return value as Json;
}
