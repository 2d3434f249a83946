import type { Move } from '../answer';
import { numberOf, textOf } from '../json';
import { purposeOf } from './purpose';
import type { Script, ScriptOptions } from './script';
import { isPlaceholder, stepsOf, type Step } from './steps';
import { condense, summarise } from './summary';

const ledger = 'marks.txt';

/**
 * Effects that can be counted on disk: call N appends the line N to marks.txt, writes `mark-N.txt`, or reads that back, in turn.
 * Where the outcome of an append is unknown, or nothing of the work is visible any more, it reads marks.txt and goes on from
 * there, so that an effect that took place twice is the platform's own doing. `chars` of noise come with every append: out of
 * the command, or (`wordy`) out of the model's own mouth.
 */
export const marks = (options: ScriptOptions): Script => {
  const calls = numberOf(options['calls']) ?? 9;
  const chars = numberOf(options['chars']) ?? 200;
  const noise: Noise = options['wordy'] === true ? { said: chars, printed: 0 } : { said: 0, printed: chars };
  return {
    next: (conversation) => {
      const purpose = purposeOf(conversation);
      if (purpose === 'summary') return summarise(conversation);
      if (purpose === 'condense') return condense(conversation);
      const steps = stepsOf(conversation);
      const last = steps.at(-1);
      const compacted = conversation.turns.filter((turn) => turn.role === 'user').length > 1;
      if (last === undefined && !compacted) return move(0, calls, noise);
      if (last === undefined || leavesDoubt(last)) return look;
      if (textOf(last.call.arguments['path']) === ledger) return afterLook(last, steps.at(-2), calls, noise);
      const number = numberOfStep(last);
      return number === undefined ? look : move(last.result?.isError ? number : number + 1, calls, noise);
    },
  };
};

/** Characters that come with an append. */
interface Noise {
  readonly said: number;
  readonly printed: number;
}

const look: Move = { text: 'Looking at what was done.', calls: [{ name: 'read_file', arguments: { path: ledger } }] };

function leavesDoubt(step: Step): boolean {
  return step.call.name === 'run_command' && /outcome is unknown/i.test(step.result?.text ?? '');
}

function afterLook(seen: Step, before: Step | undefined, calls: number, noise: Noise): Move {
  const text = seen.result?.text ?? '';
  // A hidden look says nothing: look again, the runner answers an unchanged file in one line only while it is visible.
  if (isPlaceholder(seen.call.name, text)) return look;
  const done = [...text.matchAll(/\bmark (\d+)\b/g)].map((match) => Number(match[1]));
  const doubtful = before && numberOfStep(before);
  if (doubtful !== undefined) return move(done.includes(doubtful) ? doubtful + 1 : doubtful, calls, noise);
  return move(done.length === 0 ? 0 : Math.max(...done) + 1, calls, noise);
}

function numberOfStep({ call }: Step): number | undefined {
  const text = `${textOf(call.arguments['command'])} ${textOf(call.arguments['path'])}`;
  const written = /\bmark[ -](\d+)\b/.exec(text)?.[1];
  if (written === undefined) return undefined;
  return call.name === 'read_file' ? Number(written) + 1 : Number(written);
}

function move(number: number, calls: number, noise: Noise): Move {
  if (number >= calls) return { text: 'Done.', calls: [{ name: 'finish', arguments: { result: `${calls} calls were made.` } }] };
  const text = `Call ${number + 1} of ${calls}.`;
  switch (number % 3) {
    case 0: {
      const command = `echo mark ${number} >> ${ledger} && seq ${1_000 + number} 1000000 | head -c ${noise.printed}`;
      const thought = 'First this, then that, and after that the next one. '.repeat(Math.ceil(noise.said / 52));
      return { text: `${text} ${thought}`.trimEnd(), calls: [{ name: 'run_command', arguments: { command } }] };
    }
    case 1:
      return {
        text,
        calls: [{ name: 'write_file', arguments: { path: `mark-${number}.txt`, content: `mark ${number}\n` } }],
      };
    default:
      return { text, calls: [{ name: 'read_file', arguments: { path: `mark-${number - 1}.txt` } }] };
  }
}
