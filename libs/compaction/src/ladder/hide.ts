import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { head } from '../text/cut';
import { archiveLine, listedLine } from '../view/checkpoint-message';
import { planArchive } from './archive';
import type { HiddenResult } from './archive';
import { shownUnder } from './meter';
import { raw } from './plan';
import type { Plan } from './plan';
import type { StoreItem } from './ports';
import { referenceTo } from './stored';

export interface Change {
  readonly checkpoint: compaction.Checkpoint;
  /** To be stored and read back before the change counts. */
  readonly items: readonly StoreItem[];
}

/** What takes the place of the hidden entries. */
export interface InPlace {
  readonly summary: string;
  readonly digest: string;
}

/** How much of the room the lists may take; prune lowers it. */
export interface ListBudgets {
  readonly users: number;
  readonly placeholders: number;
}

/**
 * Hides every unit up to `through`: user messages stay verbatim within their budget, newest first, the others are listed;
 * results and the rest become restorable.
 */
export function hideThrough(
  plan: Plan,
  from: compaction.Checkpoint,
  through: number,
  inPlace: InPlace,
  budgets: ListBudgets = plan.budgets,
): Change {
  const shown = shownUnder(from);
  const hidden: transcript.Entry[] = [];
  for (const unit of plan.units) {
    if (unit.from > from.hiddenThroughSeq && unit.to <= through) hidden.push(...unit.entries);
  }
  const archive = planArchive(
    hidden,
    (seq, part) => shown.replacements.get(seq)?.get(part),
    from.archives.at(-1)?.stored?.id,
    plan.names,
  );
  const archives = [
    ...from.archives,
    ...archive.documents.map((document) =>
      create(compaction.ArchiveSchema, {
        fromSeq: document.fromSeq,
        throughSeq: document.throughSeq,
        stored: referenceTo(document.item),
      }),
    ),
  ];
  const users = chooseUsers(plan, from, hidden, raw(plan, budgets.users));
  const verbatim = new Set(users.verbatim);
  const isShown = (seq: number): boolean => seq > through || verbatim.has(seq);
  const stays = from.replacements.filter((r) => r.kind !== compaction.ReplacementKind.HIDDEN && isShown(r.seq));
  const lines = listResults(plan, from, archive.results, archives, raw(plan, budgets.placeholders));
  const checkpoint = create(compaction.CheckpointSchema, {
    ...from,
    hiddenThroughSeq: through,
    blockAfterSeq: through,
    summary: inPlace.summary,
    digest: inPlace.digest,
    verbatimUserSeqs: users.verbatim,
    listedUsers: users.listed,
    replacements: [...stays, ...lines],
    archives,
  });
  return { checkpoint, items: archive.items };
}

function chooseUsers(
  plan: Plan,
  from: compaction.Checkpoint,
  hidden: readonly transcript.Entry[],
  budget: number,
): { readonly verbatim: number[]; readonly listed: compaction.Listed[] } {
  const shown = shownUnder(from);
  const candidates = [
    ...plan.kept.filter((entry) => from.verbatimUserSeqs.includes(entry.seq)),
    ...earlier(plan, from),
    ...hidden,
  ];
  const users = candidates.filter((entry) => entry.body.case === 'user' && entry !== plan.first);
  const verbatim: number[] = [];
  const listed = [...from.listedUsers];
  // A fifth is for the list, so that messages which do not fit any more can still be named.
  let left = budget - Math.floor(budget / 5);
  let fits = true;
  for (const entry of users.toReversed()) {
    const cost = plan.meter.shown(entry, shown);
    fits &&= cost <= left;
    if (fits) {
      left -= cost;
      verbatim.push(entry.seq);
    } else listed.push(listUser(plan, entry, shown.replacements.get(entry.seq)?.get(0)));
  }
  if (plan.first && plan.first.seq <= Math.max(from.hiddenThroughSeq, hidden.at(-1)?.seq ?? 0)) verbatim.push(plan.first.seq);
  verbatim.sort((a, b) => a - b);
  listed.sort((a, b) => a.seq - b.seq);
  return { verbatim, listed: newestWithin(listed, Math.floor(budget / 5), (item) => plan.meter.text(listedLine(item)) + 1) };
}

/** Entries hidden earlier in the same pass whose user messages are still verbatim. */
function earlier(plan: Plan, from: compaction.Checkpoint): transcript.Entry[] {
  const verbatim = new Set(from.verbatimUserSeqs);
  const found: transcript.Entry[] = [];
  for (const unit of plan.units) {
    if (unit.to > from.hiddenThroughSeq) break;
    for (const entry of unit.entries) if (verbatim.has(entry.seq)) found.push(entry);
  }
  return found;
}

function listUser(plan: Plan, entry: transcript.Entry, replacement: compaction.Replacement | undefined): compaction.Listed {
  const first = entry.body.case === 'user' ? entry.body.value.parts.find((part) => part.kind.case === 'text') : undefined;
  const text = first?.kind.case === 'text' ? first.kind.value : '(image)';
  const line = head(text.replace(/\s+/g, ' ').trim(), 160);
  const stored = replacement?.stored ?? { id: plan.names.id(entry, 0) };
  return create(compaction.ListedSchema, { seq: entry.seq, text: line.length < text.length ? `${line}…` : line, stored });
}

function listResults(
  plan: Plan,
  from: compaction.Checkpoint,
  results: readonly HiddenResult[],
  archives: readonly compaction.Archive[],
  budget: number,
): compaction.Replacement[] {
  const newest = archives.at(-1);
  const earlier = from.replacements.filter((r) => r.kind === compaction.ReplacementKind.HIDDEN);
  let left = Math.max(0, budget - 20 - (newest ? plan.meter.text(archiveLine(newest)) : 0));
  // Newest first, and only as many as fit: a long history has thousands of them.
  const lines: compaction.Replacement[] = [];
  const keep = (line: compaction.Replacement): boolean => {
    left -= plan.meter.replacement(line) + 1;
    if (left >= 0) lines.push(line);
    return left >= 0;
  };
  for (let i = results.length - 1; i >= 0 && left >= 0; i--) keep(hiddenLine(results[i] as HiddenResult));
  for (let i = earlier.length - 1; i >= 0 && left >= 0; i--) keep(earlier[i] as compaction.Replacement);
  return lines.reverse();
}

function hiddenLine(result: HiddenResult): compaction.Replacement {
  return create(compaction.ReplacementSchema, {
    seq: result.seq,
    part: result.part,
    kind: compaction.ReplacementKind.HIDDEN,
    text: `- ${result.storedId}: ${result.tool}, ${result.chars} characters: ${result.head}`,
    stored: { id: result.storedId },
  });
}

/** The newest items of an ascending list whose costs together stay within a budget, still ascending. */
function newestWithin<T>(items: readonly T[], budget: number, costOf: (item: T) => number): T[] {
  let left = budget;
  let from = items.length;
  for (let i = items.length - 1; i >= 0; i--) {
    left -= costOf(items[i] as T);
    if (left < 0) break;
    from = i;
  }
  return items.slice(from);
}
