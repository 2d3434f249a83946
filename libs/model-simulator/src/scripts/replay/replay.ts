import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '../../json';
import { purposeOf } from '../purpose';
import type { Script, ScriptOptions } from '../script';
import { spokenTexts, stepsOf } from '../steps';
import { condense, summarise } from '../summary';
import { foldRecording, type RecordedAnswer } from './recording';
import { readRecording } from './readers';

const folder = 'replay';

/**
 * Replays a recorded session as reads of files that hold the recorded results (prepareReplay writes them): sizes, order
 * and parallel batches are those of the session, but nothing that it says is ever executed.
 */
export const replay = (options: ScriptOptions): Script => {
  const answers = load(textOf(options['file']));
  return {
    next: (conversation) => {
      const purpose = purposeOf(conversation);
      if (purpose === 'summary') return summarise(conversation);
      if (purpose === 'condense') return condense(conversation);
      const seen = [
        ...stepsOf(conversation).map((step) => textOf(step.call.arguments['path'])),
        ...spokenTexts(conversation),
      ].flatMap((text) => [...text.matchAll(/\breplay\/(\d+)-\d+\.txt/g)].map(([, number]) => Number(number)));
      const position = Math.max(-1, ...seen) + 1;
      const answer = answers[position];
      if (answer === undefined)
        return {
          text: 'Done.',
          calls: [{ name: 'finish', arguments: { result: `The session of ${answers.length} answers was replayed.` } }],
        };
      return {
        text: answer.text || 'Going on.',
        calls: answer.calls.map((_, index) => ({ name: 'read_file', arguments: { path: fileOf(position, index) } })),
      };
    },
  };
};

function fileOf(answer: number, call: number): string {
  return `${folder}/${answer}-${call}.txt`;
}

/** Answers without any call are left out: a task would end with them. */
function load(file: string): RecordedAnswer[] {
  if (file === '') throw new Error('replay: the option "file" names a recorded session');
  if (!existsSync(file)) throw new Error(`replay: there is no recorded session at ${file}`);
  return foldRecording(readRecording(readFileSync(file, 'utf8'))).filter((answer) => answer.calls.length > 0);
}

/** Writes the recorded results into a workspace. Returns how many there are. */
export function prepareReplay(file: string, workspace: string): number {
  mkdirSync(join(workspace, folder), { recursive: true });
  let written = 0;
  load(file).forEach((answer, position) =>
    answer.calls.forEach((call, index) => {
      writeFileSync(join(workspace, fileOf(position, index)), call.result ?? '(no result was recorded)');
      written++;
    }),
  );
  return written;
}
