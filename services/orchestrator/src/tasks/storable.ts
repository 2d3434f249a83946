/** Largest value of a Postgres integer. */
const intMax = 2_147_483_647;

/**
 * Text that Postgres takes: it refuses NUL in text and JSON, and half a surrogate pair in JSON. Models and files produce
 * both; without this one such character in a plan would stop its task for good.
 */
export function cleanText(text: string): string {
  return text.includes('\u0000') ? text.replaceAll('\u0000', '\ufffd').toWellFormed() : text.toWellFormed();
}

/** JSON with every text in it cleaned. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? cleanText(inner) : inner));
}

/** A deep copy with every text in it cleaned. */
export function storable<T>(value: T): T {
  return JSON.parse(storableJson(value)) as T;
}

/** A number of the wire (unsigned, up to 4 billion) as an integer column takes it. */
export function storableInt(value: number): number {
  return Math.min(value, intMax);
}
