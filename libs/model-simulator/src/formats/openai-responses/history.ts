import { invalid } from '../../vendors/problem';
import type { Item } from './items';

/** Pairing of calls and outputs over the whole input, and reasoning that must be followed by what it led to. */
export function checkItems(items: readonly Item[]): void {
  const open = new Set<string>();
  const answered = new Set<string>();
  const ids = new Set<string>();
  items.forEach((item, index) => {
    if (item.id !== '') {
      if (ids.has(item.id))
        throw invalid(`Duplicate item found with id ${item.id}. Remove duplicate items from your input and try again.`, 'input');
      ids.add(item.id);
    }
    if (item.kind === 'call') {
      if (open.has(item.call.id) || answered.has(item.call.id))
        throw invalid(`Duplicate function call found with call_id ${item.call.id}.`, 'input');
      open.add(item.call.id);
    }
    if (item.kind === 'output') {
      if (answered.has(item.callId)) throw invalid(`Duplicate tool output found for call_id ${item.callId}.`, 'input');
      if (!open.delete(item.callId))
        throw invalid(`No tool call found for function call output with call_id ${item.callId}.`, 'input');
      answered.add(item.callId);
    }
    if (item.kind === 'reasoning') {
      const next = items[index + 1];
      const leads =
        next?.kind === 'call' || next?.kind === 'reasoning' || (next?.kind === 'message' && next.role === 'assistant');
      if (!leads)
        throw invalid(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`, 'input');
    }
  });
  const [unanswered] = open;
  if (unanswered !== undefined) throw invalid(`No tool output found for function call ${unanswered}.`, 'input');
}
