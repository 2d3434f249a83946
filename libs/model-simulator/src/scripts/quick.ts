import { numberOf, textOf } from '../json';
import { purposeOf } from './purpose';
import type { Script, ScriptOptions } from './script';
import { stepsOf } from './steps';
import { criteriaSeen } from './sample/plan';
import { condense, summarise } from './summary';

const kinds = ['list_files', 'run_command', 'write_file', 'read_file', 'update_plan'] as const;

/**
 * So many tool calls, then criteria and finish: the load of one short task. The number of calls made is read from the
 * files it wrote and the calls it sees, so a compaction in between only lets it make a few calls more.
 */
export const quick = (options: ScriptOptions): Script => {
  const calls = numberOf(options['calls']) ?? 5;
  const parallel = Math.max(1, numberOf(options['parallel']) ?? 1);
  const chars = numberOf(options['chars']) ?? 200;
  const tools = textOf(options['tools']) === '' ? kinds : textOf(options['tools']).split(',');
  return {
    next: (conversation) => {
      const purpose = purposeOf(conversation);
      if (purpose === 'summary') return summarise(conversation);
      if (purpose === 'condense') return condense(conversation);
      const steps = stepsOf(conversation);
      const made = steps.filter((step) => step.call.name !== 'mark_criterion' && step.call.name !== 'finish').length;
      if (made < calls) {
        const numbers = Array.from({ length: Math.min(parallel, calls - made) }, (_, index) => made + index);
        return { text: `Call ${made + 1} of ${calls}.`, calls: numbers.map((number) => callNumber(number, tools, chars)) };
      }
      const marked = new Set(
        steps.filter((step) => step.call.name === 'mark_criterion').map((step) => textOf(step.call.arguments['id'])),
      );
      const open = criteriaSeen(conversation, steps).filter(({ id, done }) => !done && !marked.has(id));
      if (open.length > 0)
        return {
          text: 'Marking the criteria.',
          calls: open.map(({ id }) => ({
            name: 'mark_criterion',
            arguments: { id, evidence: `all ${calls} calls were made and answered` },
          })),
        };
      return { text: 'Done.', calls: [{ name: 'finish', arguments: { result: `${calls} calls were made.` } }] };
    },
  };
};

function callNumber(
  number: number,
  tools: readonly string[],
  chars: number,
): { name: string; arguments: Record<string, unknown> } {
  const name = tools[number % tools.length] ?? 'list_files';
  switch (name) {
    case 'run_command':
      return { name, arguments: { command: `echo call ${number}` } };
    case 'write_file':
      return { name, arguments: { path: `quick-${number}.txt`, content: `call ${number} `.padEnd(chars, 'x') } };
    case 'read_file':
      return { name, arguments: { path: `quick-${number - 1}.txt` } };
    case 'update_plan':
      return { name, arguments: { items: [{ text: `call ${number}`, state: 'doing' }] } };
    default:
      return { name: 'list_files', arguments: { path: '.' } };
  }
}
