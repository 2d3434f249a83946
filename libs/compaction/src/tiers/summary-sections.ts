import { estimateText } from '../measure/text-estimate';
import { head } from '../text/cut';

export interface Section {
  readonly number: number;
  readonly title: string;
  /** How the title may be worded in an answer. */
  readonly heading: RegExp;
  readonly asks: string;
}

export const summarySections: readonly Section[] = [
  {
    number: 1,
    title: 'Requests and intent',
    heading: /requests?( and| &)? intent|request/i,
    asks: 'everything the user asked for, and why',
  },
  {
    number: 2,
    title: 'Key technical concepts',
    heading: /technical concepts?/i,
    asks: 'technologies, patterns and decisions that matter',
  },
  {
    number: 3,
    title: 'Files and code',
    heading: /files?( and| &)? code/i,
    asks: 'each file read or changed, what changed and why; short code only where needed',
  },
  {
    number: 4,
    title: 'Errors and fixes',
    heading: /errors?( and| &)? fix/i,
    asks: 'each error, how it was fixed, and every correction by the user',
  },
  { number: 5, title: 'Problem solving', heading: /problem[- ]solving/i, asks: 'what was found out, what is still open' },
  { number: 6, title: 'All user messages', heading: /user messages?/i, asks: 'each message of the user, in order, briefly' },
  { number: 7, title: 'Pending tasks', heading: /pending tasks?/i, asks: 'what was asked for and is not done' },
  {
    number: 8,
    title: 'Current work',
    heading: /current work/i,
    asks: 'exactly what was being done right before this summary, with file names',
  },
  { number: 9, title: 'Next step', heading: /next steps?/i, asks: 'the next step in line with the latest request, or "none"' },
];

/** Below this budget (tokens) only the sections that the work cannot go on without are asked for. */
const fullBudget = 2_000;
const essential = new Set([1, 3, 7, 8, 9]);

export function sectionsFor(budget: number): readonly Section[] {
  return budget < fullBudget ? summarySections.filter((section) => essential.has(section.number)) : summarySections;
}

/** Numbers of the sections that a text lacks. A heading is a short line that begins with #, * or a number. */
export function missingSections(text: string, wanted: readonly Section[]): number[] {
  const headings = text.split('\n').filter(isHeading);
  return wanted.filter((section) => !headings.some((line) => section.heading.test(line))).map((section) => section.number);
}

function isHeading(line: string): boolean {
  return line.length < 120 && /^\s*(#{1,6}\s|\*\*|\d{1,2}[.):])/.test(line);
}

/**
 * A summary within a budget (plain estimate, tokens): sections that take more than their share are cut at its end with a
 * mark, so that the last ones, which say what is going on now, are never the ones that get lost.
 */
export function fitSections(summary: string, budget: number): string {
  if (summary === '' || estimateText(summary) <= budget) return summary;
  const sections = splitSections(summary);
  const costs = sections.map((section) => estimateText(section));
  let level = Math.max(8, Math.floor(budget / Math.max(1, sections.length)));
  // Sections below their share leave room for the others.
  for (let round = 0; round < 4; round++) {
    const small = costs.filter((cost) => cost <= level);
    const large = costs.length - small.length;
    if (large === 0) break;
    level = Math.max(8, Math.floor((budget - small.reduce((sum, cost) => sum + cost, 0)) / large));
  }
  for (; level >= 2; level = Math.floor(level * 0.85)) {
    const fitted = sections.map((section, i) => cutSection(section, costs[i] ?? 0, level)).join('\n');
    if (estimateText(fitted) <= budget) return fitted;
  }
  return head(summary, Math.max(0, budget * 2));
}

function splitSections(summary: string): string[] {
  const sections: string[] = [];
  let lines: string[] = [];
  for (const line of summary.split('\n')) {
    if (isHeading(line) && summarySections.some((section) => section.heading.test(line)) && lines.length > 0) {
      sections.push(lines.join('\n'));
      lines = [];
    }
    lines.push(line);
  }
  sections.push(lines.join('\n'));
  return sections;
}

function cutSection(section: string, cost: number, level: number): string {
  if (cost <= level) return section;
  const room = Math.floor((section.length / cost) * level) - 4;
  return `${head(section, Math.max(0, room)).trimEnd()} […]`;
}
