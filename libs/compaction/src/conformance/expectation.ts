import { textFrom } from './notation';
import type { TextSpec } from './notation';

/** How an expected value may be written instead of the value itself. */
const matchers: Readonly<Record<string, (seen: unknown, wanted: unknown) => boolean>> = {
  atMost: (seen, wanted) => (seen as number) <= (wanted as number),
  atLeast: (seen, wanted) => (seen as number) >= (wanted as number),
  above: (seen, wanted) => (seen as number) > (wanted as number),
  below: (seen, wanted) => (seen as number) < (wanted as number),
  not: (seen, wanted) => !isEqual(seen, wanted),
  contains: (seen, wanted) => listed(wanted).every((one) => includes(seen, one)),
  lacks: (seen, wanted) => !listed(wanted).some((one) => includes(seen, one)),
  matches: (seen, wanted) => typeof seen === 'string' && new RegExp(wanted as string).test(seen),
};

/**
 * Where an observation differs from what is expected: objects are compared by the keys expected, everything else whole. A
 * text that begins with `$` names another value: `$landing` of the same step, `$steps.0.summary` of an earlier one.
 */
export function differences(seen: unknown, expected: unknown, scope: unknown, at = ''): string[] {
  const wanted = resolved(expected, scope);
  if (isObject(wanted)) {
    const keys = Object.keys(wanted);
    if (keys.length > 0 && keys.every((key) => key in matchers)) {
      return keys
        .filter((key) => !matchers[key]?.(seen, resolved(wanted[key], scope)))
        .map((key) => `${at || 'value'}: ${shown(seen)} should be ${key} ${shown(resolved(wanted[key], scope))}`);
    }
    if (typeof seen !== 'object' || seen === null) return [`${at || 'value'}: expected an object, got ${shown(seen)}`];
    // A list is compared by position where only some of its items matter.
    return keys.flatMap((key) =>
      differences((seen as Record<string, unknown>)[key], wanted[key], scope, at === '' ? key : `${at}.${key}`),
    );
  }
  if (Array.isArray(wanted) && Array.isArray(seen) && wanted.length === seen.length) {
    return wanted.flatMap((one, i) => differences(seen[i], one, scope, `${at}[${i}]`));
  }
  return isEqual(seen, wanted) ? [] : [`${at || 'value'}: expected ${shown(wanted)}, got ${shown(seen)}`];
}

function resolved(value: unknown, scope: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('$')) return value;
  let found = scope;
  for (const key of value.slice(1).split('.')) found = (found as Record<string, unknown> | undefined)?.[key];
  return found;
}

function listed(wanted: unknown): unknown[] {
  return Array.isArray(wanted) ? (wanted as unknown[]) : [wanted];
}

function includes(seen: unknown, wanted: unknown): boolean {
  if (Array.isArray(seen)) return seen.some((one) => isEqual(one, wanted));
  return typeof seen === 'string' && seen.includes(textFrom(wanted as TextSpec));
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 160 ? text : `${text.slice(0, 120).toWellFormed()}… (${text.length} characters)`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
