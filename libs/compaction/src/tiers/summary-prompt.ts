import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { fenced, fenceNotice } from '../text/fence';
import type { Section } from './summary-sections';

/** The instruction that is appended to the unchanged request. */
export function summaryInstruction(sections: readonly Section[], budget: number, focus = ''): string {
  return [
    'The conversation above is about to be hidden to make room. For this one answer, stop working on the task: call no tool,',
    'ask nothing, and write a summary from which the work can go on without reading the conversation again.',
    ...format(sections, budget),
    'The goal, the plan, recently edited files and stored tool results are added beside your summary, so do not repeat them',
    'at length. Keep exact names, paths, numbers and commands. Include what an earlier summary above says, where it still holds.',
    ...focusLines(focus),
  ].join('\n');
}

/** Said again when an answer was not a summary. */
export function reminder(fault: string): string {
  return `Your previous answer could not be used: ${fault}. Answer with plain text in the sections below, and call no tool.`;
}

/** One piece of a transcript that is larger than the summarizer's window. */
export function chunkPrompt(text: string, index: number, count: number, budget: number): string {
  return [
    `Below is part ${index + 1} of ${count} of the record of an agent's work. Write notes on this part from which a summary of`,
    `the whole can be made: what the user asked, files, decisions, errors and fixes, results, what is open. At most ${words(budget)} words.`,
    `Plain text only. ${fenceNotice}`,
    '',
    fenced(`part ${index + 1} of ${count}`, text),
  ].join('\n');
}

/** The last step of map-reduce: notes on all parts become one summary. */
export function reducePrompt(notes: readonly string[], sections: readonly Section[], budget: number, focus = ''): string {
  return [
    "Below are notes on all parts of the record of an agent's work, in order. Write one summary of the whole from which the",
    'work can go on. The last part is the most recent.',
    ...format(sections, budget),
    ...focusLines(focus),
    fenceNotice,
    '',
    ...notes.map((note, i) => fenced(`notes on part ${i + 1} of ${notes.length}`, note)),
  ].join('\n');
}

/** The whole transcript as data in one message: for models that answered the plain request with something else. */
export function textPrompt(text: string, sections: readonly Section[], budget: number, fault: string, focus = ''): string {
  return [
    fault === '' ? '' : reminder(fault),
    "Below is the record of an agent's work, long outputs shortened. Write a summary from which the work can go on.",
    ...format(sections, budget),
    ...focusLines(focus),
    fenceNotice,
    '',
    fenced('record', text),
  ].join('\n');
}

function format(sections: readonly Section[], budget: number): string[] {
  return [
    `At most ${words(budget)} words, in exactly these sections, each under its heading:`,
    '',
    ...sections.map((section) => `## ${section.number}. ${section.title}\n(${section.asks})`),
    '',
  ];
}

function focusLines(focus: string): string[] {
  return focus === '' ? [] : ['The user asks to pay special attention to this:', fenced('focus', focus)];
}

/** Three words to four tokens, and a little less, since models overshoot. */
function words(budget: number): number {
  return Math.max(40, Math.floor(budget * 0.6));
}

/** A request of its own, without tools. */
export function promptView(prompt: string): transcript.View {
  const parts = [create(transcript.PartSchema, { kind: { case: 'text', value: prompt } })];
  const value = create(transcript.UserMessageSchema, { parts });
  return create(transcript.ViewSchema, {
    system: 'You write precise summaries of the work of coding agents.',
    messages: [create(transcript.ViewMessageSchema, { body: { case: 'user', value } })],
  });
}

/** The unchanged request with one more user message. */
export function appendedView(view: transcript.View, instruction: string): transcript.View {
  const parts = [create(transcript.PartSchema, { kind: { case: 'text', value: instruction } })];
  const value = create(transcript.UserMessageSchema, { parts });
  const messages = [...view.messages, create(transcript.ViewMessageSchema, { body: { case: 'user', value } })];
  return create(transcript.ViewSchema, { system: view.system, tools: view.tools, messages, generation: view.generation });
}
