import type { Turn } from '../../conversation';
import type { Item } from './items';

/** Items in a row that belong to one answer, or to one batch of results, make one turn. */
export function turnsOf(items: readonly Item[]): Turn[] {
  const turns: Turn[] = [];
  for (const item of items) {
    const last = turns.at(-1);
    if (item.kind === 'output') {
      const result = { callId: item.callId, text: item.text, isError: /^error\b/i.test(item.text) };
      if (last?.role === 'results') turns.splice(-1, 1, { role: 'results', results: [...last.results, result] });
      else turns.push({ role: 'results', results: [result] });
      continue;
    }
    if (item.kind === 'call') {
      if (last?.role === 'assistant') turns.splice(-1, 1, { ...last, calls: [...last.calls, item.call] });
      else turns.push({ role: 'assistant', text: '', calls: [item.call] });
      continue;
    }
    if (item.kind !== 'message' || item.role === 'system') continue;
    if (item.role === 'assistant') turns.push({ role: 'assistant', text: item.texts.join('\n'), calls: [] });
    else turns.push({ role: 'user', texts: [...item.texts, ...Array.from({ length: item.images }, () => '[image]')] });
  }
  return turns;
}
