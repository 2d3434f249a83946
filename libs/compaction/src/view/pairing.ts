import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';

/**
 * What can be cut as a whole: a user message, a notice, or an assistant message with all results of its calls. A cut is
 * legal before a unit and nowhere else, so call and result can never part.
 */
export interface Unit {
  readonly kind: 'user' | 'note' | 'round' | 'stray';
  /** First and last seq; entries of other units never lie between. */
  readonly from: number;
  readonly to: number;
  readonly head: transcript.Entry;
  /** One per call of `head`, in the order of the calls; absent = no result (yet). */
  readonly results: readonly (transcript.Entry | undefined)[];
  /** Entries that fell between a call and its results, or repeated a result. */
  readonly aside: readonly transcript.Entry[];
  /** Every entry of the unit, ascending. */
  readonly entries: readonly transcript.Entry[];
}

/** A round while its results come in; closed, it is the unit itself. */
interface OpenRound extends Unit {
  readonly kind: 'round';
  to: number;
  readonly calls: readonly string[];
  readonly results: (transcript.Entry | undefined)[];
  missing: number;
  aside: transcript.Entry[];
  readonly entries: transcript.Entry[];
}

/**
 * Groups entries into units. Results belong to the newest round that still waits for their call; the first one wins, a
 * second is put aside. A user message or notice inside an open round is put aside too and read after its results.
 */
export function unitsOf(entries: readonly transcript.Entry[]): Unit[] {
  const units: Unit[] = [];
  let open: OpenRound | undefined;
  const close = (): void => {
    if (open) {
      open.to = open.entries.at(-1)?.seq ?? open.from;
      units.push(open);
    }
    open = undefined;
  };
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as transcript.Entry;
    const { body } = entry;
    if (body.case === 'assistant') {
      close();
      open = openRound(entry, body.value);
      if (open.missing === 0) close();
    } else if (body.case === 'toolResult') {
      if (open && belongs(open, body.value.callId)) {
        accept(open, entry, body.value.callId);
        if (open.missing === 0) close();
      } else if (!repeats(units.at(-1), body.value.callId)) {
        close();
        units.push(single('stray', entry));
      } else units.push({ ...mergeAside(units, entry) });
    } else if (open && resultsFollow(entries, index, open)) {
      putAside(open, entry);
      open.entries.push(entry);
    } else {
      close();
      units.push(single(body.case === 'note' ? 'note' : 'user', entry));
    }
  }
  close();
  return units;
}

function openRound(head: transcript.Entry, message: transcript.AssistantMessage): OpenRound {
  const calls: string[] = [];
  for (const block of message.blocks) if (block.kind.case === 'toolCall') calls.push(block.kind.value.id);
  const results = calls.length === 0 ? none : new Array<undefined>(calls.length).fill(undefined);
  const { seq } = head;
  return { kind: 'round', from: seq, to: seq, head, calls, results, missing: calls.length, aside: none, entries: [head] };
}

/** Most units have nothing here: one list for all of them, never written to. */
const none: transcript.Entry[] = [];

function putAside(round: OpenRound, entry: transcript.Entry): void {
  if (round.aside === none) round.aside = [];
  round.aside.push(entry);
}

const belongs = (round: OpenRound, callId: string): boolean => round.calls.includes(callId);

function accept(round: OpenRound, entry: transcript.Entry, callId: string): void {
  round.entries.push(entry);
  let at = round.calls.indexOf(callId);
  // The same id twice in one message: each call takes its own result.
  while (at >= 0 && round.results[at]) at = round.calls.indexOf(callId, at + 1);
  if (at < 0) {
    putAside(round, entry);
    return;
  }
  round.results[at] = entry;
  round.missing--;
}

/** Whether a result of the open round still comes before the next assistant message. */
function resultsFollow(entries: readonly transcript.Entry[], from: number, round: OpenRound): boolean {
  for (let i = from + 1; i < entries.length; i++) {
    const body = entries[i]?.body;
    if (body?.case === 'assistant') return false;
    if (body?.case === 'toolResult' && belongs(round, body.value.callId)) return true;
  }
  return false;
}

function repeats(unit: Unit | undefined, callId: string): boolean {
  return (
    unit?.kind === 'round' &&
    unit.head.body.case === 'assistant' &&
    unit.head.body.value.blocks.some((block) => block.kind.case === 'toolCall' && block.kind.value.id === callId)
  );
}

/** A repeated result right after its round joins it, put aside. */
function mergeAside(units: Unit[], entry: transcript.Entry): Unit {
  const unit = units.pop() as Unit;
  return { ...unit, to: entry.seq, aside: [...unit.aside, entry], entries: [...unit.entries, entry] };
}

function single(kind: Unit['kind'], entry: transcript.Entry): Unit {
  return { kind, from: entry.seq, to: entry.seq, head: entry, results: none, aside: none, entries: [entry] };
}

/** Ids of calls without a result in all rounds but the newest, which alone may still be running. */
export function abortedCalls(units: readonly Unit[]): string[] {
  const aborted: string[] = [];
  const last = units.at(-1);
  for (const unit of units) if (unit !== last) aborted.push(...openCalls(unit));
  return aborted;
}

/** Calls of a unit that have no result. */
export function openCalls(unit: Unit): string[] {
  return callsOf(unit)
    .filter((_, i) => !unit.results[i])
    .map((call) => call.id);
}

export function callsOf(unit: Unit): transcript.ToolCall[] {
  if (unit.head.body.case !== 'assistant') return [];
  const calls: transcript.ToolCall[] = [];
  for (const block of unit.head.body.value.blocks) if (block.kind.case === 'toolCall') calls.push(block.kind.value);
  return calls;
}

/** Stands in for the result of a call whose turn was aborted: providers refuse a call without one. */
export function abortedResult(call: transcript.ToolCall): transcript.ToolResult {
  return create(transcript.ToolResultSchema, {
    callId: call.id,
    providerId: call.providerId,
    tool: call.name,
    parts: [{ kind: { case: 'text', value: 'aborted: this call has no result' } }],
    isError: true,
    outcome: transcript.ToolOutcome.CANCELLED,
  });
}
