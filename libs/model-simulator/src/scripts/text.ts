import { numberOf, textOf } from '../json';
import type { Script, ScriptOptions } from './script';

/** The same text every time, or so many numbered words with one delta each: for streams that are cut at a known place. */
export const text = (options: ScriptOptions): Script => {
  const count = numberOf(options['deltas']);
  const deltas = count === undefined ? undefined : Array.from({ length: count }, (_, index) => `w${index + 1} `);
  const words = deltas === undefined ? textOf(options['text']) || 'ok' : deltas.join('');
  return { next: () => ({ text: words, ...(deltas === undefined ? {} : { deltas }) }) };
};
