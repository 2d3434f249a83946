import type { Move } from '../answer';
import type { Conversation } from '../conversation';
import { summaryMark } from './purpose';
import { criteriaSeen, planSeen } from './sample/plan';
import { pathOf, spokenTexts, stepsOf, type Step } from './steps';

const defaultTitles = [
  'Requests and intent',
  'Key technical concepts',
  'Files and code',
  'Errors and fixes',
  'Problem solving',
  'All user messages',
  'Pending tasks',
  'Current work',
  'Next step',
];

/** Characters per token, low, so that a summary stays below a budget given in tokens under any tokenizer. */
const CHARS_PER_TOKEN = 2;
const CHARS_PER_WORD = 4;
const CHARS_MAX = 8_000;
const LISTED_RESULTS = 30;

interface Section {
  readonly number: number;
  readonly title: string;
}

/** An extract of what is visible, under the headings that the instruction asks for. */
export function summarise(conversation: Conversation): Move {
  const instruction = spokenTexts(conversation).at(-1) ?? '';
  const before: Conversation = { ...conversation, turns: withoutInstruction(conversation) };
  const sections = sectionsIn(instruction);
  const budget = Math.min(CHARS_MAX, budgetIn(instruction));
  const share = Math.max(20, Math.floor((budget - 400) / (sections.length + 1)));
  const parts = sections.map(
    ({ number, title }) => `## ${number}. ${title}\n${clip(contentFor(number, before), number === 3 ? share * 2 : share)}`,
  );
  return { text: `${summaryMark}\n\n${parts.join('\n\n')}\n` };
}

/** The instruction is the last text of the last user turn; results before it in the same message stay. */
function withoutInstruction(conversation: Conversation): Conversation['turns'] {
  const last = conversation.turns.at(-1);
  if (last?.role !== 'user') return conversation.turns;
  const rest = conversation.turns.slice(0, -1);
  // A record pasted into the request as data is all there is to extract from.
  const prompt = last.texts.at(-1) ?? '';
  if (rest.length === 0 && fencedData(prompt) !== prompt) return [{ role: 'user', texts: [fencedData(prompt)] }];
  return last.texts.length > 1 ? [...rest, { role: 'user', texts: last.texts.slice(0, -1) }] : rest;
}

/** The numbered headings of the instruction, in its own words; a short instruction may leave some out. */
export function sectionsIn(instruction: string): Section[] {
  const found = [...instruction.matchAll(/^\s*(?:#+\s*|[-*]\s*)?\**(\d)[.)]\s*\**([^\n:*(]+)/gm)].map(
    ([, number = '', title = '']) => ({
      number: numberOfTitle(title) ?? Number(number),
      title: title.trim(),
    }),
  );
  return found.length >= 4 ? found : defaultTitles.map((title, index) => ({ number: index + 1, title }));
}

function numberOfTitle(title: string): number | undefined {
  const words = title.trim().toLowerCase();
  const index = defaultTitles.findIndex((known) => words.includes(known.toLowerCase()) || known.toLowerCase().includes(words));
  return index < 0 ? undefined : index + 1;
}

function budgetIn(instruction: string): number {
  const [, figure, unit] = /(\d[\d,.]*)\s*(tokens|words)/i.exec(instruction) ?? [];
  if (figure === undefined) return CHARS_MAX;
  return Number(figure.replace(/\D/g, '')) * (unit?.toLowerCase() === 'words' ? CHARS_PER_WORD : CHARS_PER_TOKEN);
}

function contentFor(section: number, conversation: Conversation): string {
  const steps = stepsOf(conversation);
  const spoken = spokenTexts(conversation);
  const plan = planSeen(conversation, steps);
  const open = plan.filter((item) => item.state !== 'done');
  switch (section) {
    case 1:
      return clip(spoken[0] ?? 'Nothing was asked.', 1_200);
    case 2:
      return `Tools used: ${[...new Set(steps.map((step) => step.call.name))].join(', ') || 'none'}.`;
    case 3:
      return [...restorable(steps, spoken), ...edited(steps)].join('\n') || 'None.';
    case 4:
      return errors(steps).join('\n') || 'None.';
    case 5:
      return `${steps.length} tool calls are covered by this extract.`;
    case 6:
      return spoken.map((text) => `- ${clip(oneLine(text), 200)}`).join('\n') || 'None.';
    case 7: {
      const criteria = criteriaSeen(conversation, steps).filter((criterion) => !criterion.done);
      return (
        [...open.map((item) => `- ${item.text}`), ...criteria.map(({ id, text }) => `- criterion ${id}: ${text}`)].join('\n') ||
        'None.'
      );
    }
    case 8:
      return open[0] === undefined ? 'Everything in the plan is done.' : `Working on: ${open[0].text}.`;
    default:
      return open[0] === undefined ? 'Finish.' : `Go on with: ${open[0].text}.`;
  }
}

/** The newest reads, and those that an earlier extract named: each can be brought back by its id. */
function restorable(steps: readonly Step[], spoken: readonly string[]): string[] {
  const earlier = spoken.flatMap((text) => text.match(/restorable: id=\S+ tool=\S+ path=\S+/g) ?? []);
  const now = steps
    .filter((step) => step.call.name === 'read_file' && step.result !== undefined && !step.result.isError)
    .map((step) => `restorable: id=${step.call.id} tool=read_file path=${pathOf(step)}`);
  return [...new Set([...earlier, ...now])].slice(-LISTED_RESULTS).reverse();
}

function edited(steps: readonly Step[]): string[] {
  const paths = steps.filter((step) => step.call.name === 'edit_file' || step.call.name === 'write_file').map(pathOf);
  return [...new Set(paths)].map((path) => `edited: ${path}`);
}

function errors(steps: readonly Step[]): string[] {
  return steps
    .filter((step) => step.result?.isError === true)
    .map((step) => `- ${step.call.name}: ${clip(oneLine(step.result?.text ?? ''), 160)}`);
}

/** A request to shorten one text, or for notes on a part: its beginning, which is where the tools say most. */
export function condense(conversation: Conversation): Move {
  const data = fencedData(spokenTexts(conversation).at(-1) ?? '');
  return { text: clip(oneLine(data), Math.max(40, Math.min(1_200, Math.floor(data.length / 5)))) || '(empty)' };
}

/** The part of a prompt that is marked as data; the whole prompt where nothing is. */
function fencedData(text: string): string {
  const parts = [...text.matchAll(/<([\w-]+)[^>\n]*>\n([\s\S]*?)\n<\/\1>/g)].map(([, , data = '']) => data);
  return parts.length > 0 ? parts.join('\n') : text;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function clip(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, Math.max(0, chars - 1)).toWellFormed()}…`;
}
