import type { ServerMode } from '../config/server-spec';

type Hostile = Extract<ServerMode, { mode: 'hostile' }>['body'];

const NESTING = 20_000;

/** What a broken or malicious server answers in place of its metadata. */
export function hostileBody(kind: Hostile, truth: unknown): string {
  switch (kind) {
    case 'html':
      return '<!doctype html><html><body>Welcome to nginx!</body></html>';
    case 'empty':
      return '';
    case 'half_json': {
      const text = JSON.stringify(truth);
      return text.slice(0, Math.floor(text.length / 2));
    }
    case 'wrong_types':
      return JSON.stringify(
        mapLeaves(truth, (value) => (typeof value === 'number' ? `${value} tokens` : typeof value === 'string' ? 7 : value)),
      );
    case 'missing_fields':
      return JSON.stringify(mapLeaves(truth, (value) => (typeof value === 'number' ? undefined : value)));
    case 'null_fields':
      return JSON.stringify(mapLeaves(truth, () => null));
    case 'array':
      return JSON.stringify([truth]);
    case 'deep':
      return '['.repeat(NESTING) + ']'.repeat(NESTING);
    case 'negative':
      return JSON.stringify(mapLeaves(truth, (value) => (typeof value === 'number' ? -value : value)));
  }
}

function mapLeaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => mapLeaves(entry, change));
  if (typeof value !== 'object' || value === null) return change(value);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, mapLeaves(entry, change)]));
}
