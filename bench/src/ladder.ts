import { create, toJson } from '@bufbuild/protobuf';
import { estimateEntry, runLadder } from '@nightshift/compaction';
import type { ContentStore, LadderInput, LadderResult } from '@nightshift/compaction';
import { compaction, transcript } from '@nightshift/contracts';
import { goal, median, report } from './report';

/**
 * All model-free tiers of a pass over a long transcript, against copying the same transcript through JSON in the same run.
 * The tokenizer is not part of it: entries carry the estimates that were stored with them, as in a task.
 */
const messages = 10_000;
const bytes = 4_000_000;
const rounds = 25;

function transcriptOf(count: number): transcript.Entry[] {
  // Most results are short, every fourth one is worth a placeholder.
  const share = (bytes / messages) * 2 - 430;
  const entries = [
    entryOf(1, { case: 'user', value: create(transcript.UserMessageSchema, { parts: [text('Make the build green.')] }) }),
  ];
  for (let seq = 2; seq <= count; seq += 2) {
    const id = `call-${seq}`;
    const call = create(transcript.ToolCallSchema, { id, name: 'read_file', argumentsJson: `{"path":"src/file-${seq}.ts"}` });
    const blocks = [
      create(transcript.BlockSchema, { kind: { case: 'text', value: `Reading file ${seq} next.` } }),
      create(transcript.BlockSchema, { kind: { case: 'toolCall', value: call } }),
    ];
    const parts = [
      text(
        `${seq}: export const value = compute(input, options); // why it matters\n`
          .repeat(40)
          .slice(0, seq % 8 === 0 ? share * 3.7 : share * 0.1),
      ),
    ];
    if (seq % 1_000 === 0) parts.push(image(seq));
    const result = create(transcript.ToolResultSchema, { callId: id, tool: 'read_file', parts });
    entries.push(entryOf(seq, { case: 'assistant', value: create(transcript.AssistantMessageSchema, { blocks }) }));
    entries.push(entryOf(seq + 1, { case: 'toolResult', value: result }));
  }
  return entries;
}

function entryOf(seq: number, body: transcript.Entry['body']): transcript.Entry {
  return create(transcript.EntrySchema, {
    seq,
    id: `01940000-0000-7000-8000-${String(seq).padStart(12, '0')}`,
    atMs: BigInt(seq),
    body,
  });
}
function text(value: string): transcript.Part {
  return create(transcript.PartSchema, { kind: { case: 'text', value } });
}
function image(seq: number): transcript.Part {
  const value = create(transcript.ImageSchema, {
    mediaType: 'image/png',
    data: new Uint8Array(200).fill(seq),
    width: 64,
    height: 64,
  });
  return create(transcript.PartSchema, { kind: { case: 'image', value } });
}

/** Keeps what it is given; what a real store costs is another benchmark. */
function store(): ContentStore {
  const records = new Map<string, Uint8Array>();
  const reference = create(transcript.StoredReferenceSchema);
  return {
    put: (item) => {
      records.set(item.id, item.content);
      return Promise.resolve(reference);
    },
    get: (id) => Promise.resolve(records.get(id) ?? new Uint8Array()),
  };
}

async function pass(entries: readonly transcript.Entry[], estimates: ReadonlyMap<number, number>): Promise<LadderResult> {
  const input: LadderInput = {
    system: 'You are an agent.',
    tools: [],
    entries,
    estimates,
    generation: 0,
    reason: compaction.PassReason.THRESHOLD,
    window: 131_072,
    measured: 0,
    goalAndPlan: [create(compaction.ReinjectedSchema, { kind: 'goal', text: 'Make the build green.' })],
    summarizers: [],
    nowMs: 1,
  };
  return runLadder(input, { store: store(), clock: () => performance.now() });
}

/** The transcript as JSON has it: without the names of types, which only the library needs. */
function plain(entries: readonly transcript.Entry[]): unknown {
  return entries.map((entry) => toJson(transcript.EntrySchema, entry));
}

async function timed(run: () => unknown): Promise<number> {
  const from = performance.now();
  await run();
  return performance.now() - from;
}

async function main(): Promise<void> {
  const large = transcriptOf(messages);
  const small = transcriptOf(messages / 10);
  const estimatesOf = (entries: readonly transcript.Entry[]): Map<number, number> =>
    new Map(entries.map((entry) => [entry.seq, estimateEntry(entry)]));
  const largeEstimates = estimatesOf(large);
  const smallEstimates = estimatesOf(small);
  const copied = plain(large);
  for (let i = 0; i < 4; i++) {
    await pass(large, largeEstimates);
    await pass(small, smallEstimates);
  }
  const times = { ladder: [] as number[], small: [] as number[], json: [] as number[] };
  for (let i = 0; i < rounds; i++) {
    times.json.push(await timed(() => JSON.parse(JSON.stringify(copied))));
    times.ladder.push(await timed(() => pass(large, largeEstimates)));
    times.small.push(await timed(() => pass(small, smallEstimates)));
  }
  const { tiers, before, after } = await pass(large, largeEstimates);
  const json = median(times.json);
  const ladder = median(times.ladder);
  report(
    'ladder',
    {
      messages: large.length,
      bytes: JSON.stringify(copied).length,
      tiers: tiers.map(({ tier, outcome }) => `${tier} ${outcome}`).join(', '),
      tokens_before: before,
      tokens_after: after,
      ladder_ms: ladder,
      json_round_trip_ms: json,
      ladder_of_a_tenth_ms: median(times.small),
    },
    {
      'ladder / JSON round trip': goal(ladder / json, '<=', 2),
      'ten times the messages': goal(ladder / median(times.small), '<=', 12),
    },
  );
}

void main();
