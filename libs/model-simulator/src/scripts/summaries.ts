import type { Move } from '../answer';
import type { Conversation } from '../conversation';
import { numberOf, textOf } from '../json';
import { purposeOf } from './purpose';
import type { Script, ScriptOptions } from './script';
import { sectionsIn, summarise } from './summary';
import { spokenTexts } from './steps';

export const summaryKinds = [
  'extractive',
  'verbose',
  'empty',
  'blank',
  'refusing',
  'failing',
  'slow',
  'tool_call',
  'unstructured',
  'only_reasoning',
] as const;
type SummaryKind = (typeof summaryKinds)[number];

const VERBOSE_CHARS = 200_000;

/** A model that differs only in how it answers a summary request; everything else is done by the script `otherwise`. */
export const summaries =
  (create: (options: ScriptOptions & { readonly name: string }) => Script) =>
  (options: ScriptOptions): Script => {
    const kind = summaryKinds.find((known) => known === (textOf(options['kind']) || 'extractive'));
    if (kind === undefined) throw new Error(`summaries: kind must be one of ${summaryKinds.join(', ')}`);
    const otherwise = create({ ...options, name: textOf(options['otherwise']) || 'quick' });
    const waitMs = numberOf(options['ms']) ?? 130_000;
    return {
      next: (conversation) =>
        purposeOf(conversation) === 'summary' ? answer(kind, conversation, waitMs) : otherwise.next(conversation),
    };
  };

function answer(kind: SummaryKind, conversation: Conversation, waitMs: number): Move {
  switch (kind) {
    case 'extractive':
      return summarise(conversation);
    case 'verbose': {
      const sections = sectionsIn(spokenTexts(conversation).at(-1) ?? '');
      const share = Math.floor(VERBOSE_CHARS / sections.length);
      return {
        text: sections.map(({ number, title }) => `## ${number}. ${title}\n${'and so on '.repeat(share / 10)}`).join('\n\n'),
      };
    }
    case 'empty':
      return {};
    case 'blank':
      return { text: ' \n ' };
    case 'refusing':
      return { text: "I'm sorry, but I can't help with that." };
    case 'failing':
      return { fail: true };
    case 'slow':
      return { ...summarise(conversation), waitMs };
    case 'tool_call':
      return { text: 'First I look again.', calls: [{ name: 'list_files', arguments: { path: '.' } }] };
    case 'unstructured':
      return { text: 'We talked about some files and it went fine.' };
    case 'only_reasoning':
      return { reasoning: 'The user wants a summary of everything so far.', stop: 'length' };
  }
}
