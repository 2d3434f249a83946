import type { Conversation } from '../conversation';

/** Section names of the summary that Nightshift asks for; enough of them in the last message mean such a request. */
const sections = [
  /requests? and intent/i,
  /technical concepts/i,
  /files and code/i,
  /errors and fixes/i,
  /problem solving/i,
  /user messages/i,
  /pending tasks/i,
  /current work/i,
  /next step/i,
];
const SECTIONS_OF_AN_INSTRUCTION = 4;

/** First words of every summary that the simulator writes: tells a summary apart from the instruction that asks for one. */
export const summaryMark = 'Extract made by the model simulator.';

export type Purpose = 'turn' | 'summary' | 'condense';

/** What a request wants, judged by its last message. */
export function purposeOf(conversation: Conversation): Purpose {
  const last = conversation.turns.at(-1);
  const text = last?.role === 'user' ? (last.texts.at(-1) ?? '') : '';
  if (isSummaryInstruction(text)) return 'summary';
  // Shortening one text, or notes on one part of a transcript: requests of their own, without tools.
  return conversation.tools.length === 0 && /\b(?:condense|shorten|part \d+ of \d+)\b/i.test(text) ? 'condense' : 'turn';
}

export function isSummaryInstruction(text: string): boolean {
  if (text.includes(summaryMark)) return false;
  return sections.filter((section) => section.test(text)).length >= SECTIONS_OF_AN_INSTRUCTION;
}
