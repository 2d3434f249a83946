import { toBinary } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import type { compaction } from '@nightshift/contracts';
import { checkers } from '../checkers/checkers';
import type { ContentStore } from '../ladder/ports';
import type { ArchiveLine } from '../ladder/archive';
import type { LadderInput } from '../ladder/input';
import type { LadderResult } from '../ladder/run';
import { sha256, viewHash } from '../view/hash';
import { reinjectedPart } from '../view/checkpoint-message';
import { renderView } from '../view/render';

/** Every entry of the task, hidden ones included, as the pass left them. */
export interface Evidence {
  readonly input: LadderInput;
  readonly entries: readonly transcript.Entry[];
  readonly result: LadderResult;
  readonly store: ContentStore;
}

/** What of the invariants a committed pass breaks; empty = none. */
export async function brokenInvariants(evidence: Evidence): Promise<string[]> {
  const { input, result } = evidence;
  const { checkpoint, view } = result;
  if (!checkpoint || !view) return [];
  const broken: string[] = [];
  for (const [protocol, check] of Object.entries(checkers)) {
    for (const violation of check(view).slice(0, 3))
      broken.push(`2 ${protocol}: ${violation.rule} at ${violation.at}: ${violation.detail}`);
  }
  if (result.after >= result.before) broken.push(`5 after ${result.after} is not below before ${result.before}`);
  if (checkpoint.generation !== input.generation + 1)
    broken.push(`8 generation ${checkpoint.generation} after ${input.generation}`);
  broken.push(...pinned(evidence, checkpoint, view), ...stable(evidence, checkpoint, view));
  broken.push(...(await restorable(evidence, checkpoint)));
  return broken;
}

/** 6: goal, plan and rules byte-identical; first user message verbatim unless it had to be spilled. */
function pinned({ input, entries }: Evidence, checkpoint: compaction.Checkpoint, view: transcript.View): string[] {
  const broken: string[] = [];
  if (view.system !== input.system) broken.push('6 the system prompt changed');
  const texts = new Set<string>();
  for (const { body } of view.messages) {
    if (body.case === 'user') for (const { kind } of body.value.parts) if (kind.case === 'text') texts.add(kind.value);
  }
  for (const item of input.goalAndPlan) if (!texts.has(reinjectedPart(item))) broken.push(`6 ${item.kind} is not in the view`);
  const first = entries.find((entry) => entry.body.case === 'user');
  const spilled = checkpoint.replacements.some((r) => r.seq === first?.seq);
  if (first?.body.case === 'user' && !spilled) {
    for (const { kind } of first.body.value.parts) {
      if (kind.case === 'text' && kind.value !== '' && !texts.has(kind.value)) broken.push('6 the first message is not verbatim');
    }
  }
  return broken;
}

/** 7, 9: same input, same bytes; what is appended later only appends. */
function stable({ input }: Evidence, checkpoint: compaction.Checkpoint, view: transcript.View): string[] {
  const { system, tools, entries } = input;
  const broken: string[] = [];
  if (viewHash(renderView({ system, tools, entries, checkpoint })) !== checkpoint.viewSha256)
    broken.push('7 rendered again, the view differs');
  const last = entries.at(-1)?.seq ?? 0;
  const late = [1, 2].map((i) => ({ ...lateEntry, seq: last + i, id: `late-${i}` }));
  const grown = renderView({ system, tools, entries: [...entries, ...late], checkpoint });
  const bytes = (message: transcript.ViewMessage): string => sha256(toBinary(transcript.ViewMessageSchema, message));
  const prefix = grown.messages.slice(0, view.messages.length).map(bytes).join();
  if (prefix !== view.messages.map(bytes).join()) broken.push('7 appending changed the prefix');
  if (grown.messages.length !== view.messages.length + late.length) broken.push('9 late messages are not at the end');
  return broken;
}

const lateEntry: transcript.Entry = {
  $typeName: 'nightshift.transcript.v1.Entry',
  seq: 0,
  id: '',
  atMs: 0n,
  body: {
    case: 'user',
    value: {
      $typeName: 'nightshift.transcript.v1.UserMessage',
      parts: [{ $typeName: 'nightshift.transcript.v1.Part', kind: { case: 'text', value: 'came meanwhile' } }],
      origin: transcript.UserOrigin.STEER,
    },
  },
};

/** 4: every piece that is not in the view byte for byte is in the store byte for byte. */
async function restorable({ entries, store }: Evidence, checkpoint: compaction.Checkpoint): Promise<string[]> {
  const broken: string[] = [];
  const lines = await archiveLines(checkpoint, store);
  const verbatim = new Set(checkpoint.verbatimUserSeqs);
  for (const entry of entries) {
    const visible = entry.seq > checkpoint.hiddenThroughSeq || verbatim.has(entry.seq);
    if (entry.seq > checkpoint.throughSeq) continue;
    for (const piece of piecesOf(entry)) {
      const replacement = checkpoint.replacements.find((r) => r.seq === entry.seq && r.part === piece.at);
      if (visible && !replacement) continue;
      const found = replacement?.stored
        ? [await store.get(replacement.stored.id).catch(() => undefined)]
        : await fromArchive(lines.get(entry.seq), piece.at, store);
      const matches = found.some((bytes) => bytes !== undefined && Buffer.compare(bytes, piece.bytes) === 0);
      if (!matches) broken.push(`4 entry ${entry.seq} part ${piece.at} cannot be restored`);
    }
  }
  return broken.slice(0, 5);
}

async function archiveLines(checkpoint: compaction.Checkpoint, store: ContentStore): Promise<Map<number, ArchiveLine>> {
  const lines = new Map<number, ArchiveLine>();
  for (const archive of checkpoint.archives) {
    const text = Buffer.from(await store.get(archive.stored?.id ?? '')).toString('utf8');
    for (const line of text.split('\n')) {
      const parsed = JSON.parse(line) as ArchiveLine | { earlier: string };
      if ('seq' in parsed) lines.set(parsed.seq, parsed);
    }
  }
  return lines;
}

async function fromArchive(line: ArchiveLine | undefined, at: number, store: ContentStore): Promise<(Uint8Array | undefined)[]> {
  const part = line?.parts[at];
  if (!part) return [];
  if ('dropped' in part) return [];
  if ('stored' in part) return [await store.get(part.stored).catch(() => undefined)];
  return [Buffer.from('text' in part ? part.text : part.arguments, 'utf8')];
}

interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Contents of an entry that must survive; reasoning is the one kind that may be dropped. */
function piecesOf(entry: transcript.Entry): Piece[] {
  const { body } = entry;
  const pieces: Piece[] = [];
  if (body.case === 'user' || body.case === 'toolResult') {
    for (const [at, { kind }] of body.value.parts.entries()) {
      if (kind.case === 'text') pieces.push({ at, bytes: Buffer.from(kind.value, 'utf8') });
      if (kind.case === 'image') pieces.push({ at, bytes: kind.value.data });
    }
  } else if (body.case === 'assistant') {
    for (const [at, { kind }] of body.value.blocks.entries()) {
      if (kind.case === 'text') pieces.push({ at, bytes: Buffer.from(kind.value, 'utf8') });
      if (kind.case === 'toolCall') pieces.push({ at, bytes: Buffer.from(kind.value.argumentsJson, 'utf8') });
    }
  } else if (body.case === 'note') pieces.push({ at: 0, bytes: Buffer.from(body.value.text, 'utf8') });
  return pieces;
}
