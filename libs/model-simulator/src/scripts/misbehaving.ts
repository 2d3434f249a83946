import { isObject, numberOf, textOf } from '../json';
import { purposeOf } from './purpose';
import type { Script, ScriptOptions } from './script';
import { stepsOf } from './steps';
import { condense, summarise } from './summary';

/** The identical call for ever: for loop guards. */
export const loop = (options: ScriptOptions): Script => {
  const name = textOf(options['tool']) || 'run_command';
  const given = isObject(options['arguments']) ? options['arguments'] : { command: 'echo again' };
  return {
    next: (conversation) =>
      purposeOf(conversation) === 'summary'
        ? summarise(conversation)
        : { text: 'Once more.', calls: [{ name, arguments: given }] },
  };
};

/** Every call brings back a large part of the window, each time other text: for the rapid-refill rule. */
export const noisy = (options: ScriptOptions): Script => {
  const chars = numberOf(options['chars']) ?? 160_000;
  const stopAfter = numberOf(options['calls']) ?? Infinity;
  return {
    next: (conversation) => {
      const purpose = purposeOf(conversation);
      if (purpose === 'summary') return summarise(conversation);
      if (purpose === 'condense') return condense(conversation);
      const made = stepsOf(conversation).length;
      if (made >= stopAfter) return { text: 'Done.', calls: [{ name: 'finish', arguments: { result: 'enough noise' } }] };
      const command = `seq ${made + 1} 1000000 | head -c ${chars}`;
      return { text: 'Looking at everything.', calls: [{ name: 'run_command', arguments: { command } }] };
    },
  };
};
