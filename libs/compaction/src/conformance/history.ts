import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { Random } from './random';
import { textKinds, textOf } from './texts';

export interface HistoryOptions {
  readonly seed: number;
  /** Largest ordinary tool result, in characters. */
  readonly resultChars?: number;
  /** Probability of one result of 30 to 200 thousand characters per round. */
  readonly huge?: number;
  /** Length of the first message, in characters. */
  readonly goalChars?: number;
  /** Probability of a user message before a round, and its largest length. */
  readonly steer?: number;
  readonly steerChars?: number;
  readonly images?: number;
  readonly reasoning?: number;
  /** Probability that a call of a batch never gets its result. */
  readonly aborted?: number;
}

const tools: readonly [string, ...string[]] = [
  'read_file',
  'search',
  'run_command',
  'edit_file',
  'plan',
  'restore_tool_result',
  'list_files',
];

/** A growing transcript with everything that real ones hold: parallel batches, aborted calls, images, signed reasoning. */
export class History {
  readonly entries: transcript.Entry[] = [];
  private readonly random: Random;
  private calls = 0;

  constructor(private readonly options: HistoryOptions) {
    this.random = new Random(options.seed);
    this.user(this.text(options.goalChars ?? 300), transcript.UserOrigin.GOAL);
  }

  /** Appends some rounds; ends where a model would be called next: after results or a user message. */
  grow(rounds: number): void {
    for (let i = 0; i < rounds; i++) this.round(i === rounds - 1);
  }

  private round(last: boolean): void {
    const { random, options } = this;
    if (random.chance(options.steer ?? 0.1)) this.user(this.text(options.steerChars ?? 800), transcript.UserOrigin.STEER);
    if (random.chance(0.05))
      this.add({ case: 'note', value: create(transcript.NoteSchema, { kind: 'loop_guard', text: 'slow down' }) });
    const count = random.chance(0.25) ? random.whole(2, 4) : 1;
    const calls = Array.from({ length: count }, () => this.call());
    const blocks: transcript.Block[] = [];
    if (random.chance(options.reasoning ?? 0.2)) blocks.push(this.reasoning());
    if (random.chance(0.5)) blocks.push(block({ case: 'text', value: this.text(random.chance(0.1) ? 4_000 : 300) }));
    for (const call of calls) blocks.push(block({ case: 'toolCall', value: call }));
    const stopReason = transcript.StopReason.TOOL_CALLS;
    this.add({
      case: 'assistant',
      value: create(transcript.AssistantMessageSchema, { blocks, provider: 'p', model: 'm', stopReason }),
    });
    // Results come in any order; now and then something is said in between, or a result comes twice.
    const order = random.chance(0.3) ? calls.toReversed() : calls;
    for (const [i, call] of order.entries()) {
      if (!last && random.chance(options.aborted ?? 0.05)) continue;
      const result = this.result(call);
      this.add({ case: 'toolResult', value: result });
      if (random.chance(0.02)) this.add({ case: 'toolResult', value: this.result(call) });
      if (i === 0 && count > 1 && random.chance(0.05)) this.user('one more thing: keep it small', transcript.UserOrigin.STEER);
    }
    if (random.chance(0.03)) this.add({ case: 'assistant', value: create(transcript.AssistantMessageSchema, { blocks: [] }) });
    if (random.chance(0.06) && !last) {
      const said = [block({ case: 'text', value: this.text(200) })];
      this.add({
        case: 'assistant',
        value: create(transcript.AssistantMessageSchema, { blocks: said, provider: 'p', model: 'm' }),
      });
      this.user(this.text(200), transcript.UserOrigin.STEER);
    }
  }

  private call(): transcript.ToolCall {
    const id = `call-${String(++this.calls).padStart(6, '0')}`;
    const text = this.text(this.random.chance(0.08) ? 6_000 : 80);
    const argumentsJson = JSON.stringify({ path: `src/file-${this.random.whole(0, 40)}.ts`, text });
    return create(transcript.ToolCallSchema, { id, providerId: `p_${id}`, name: this.random.pick(tools), argumentsJson });
  }

  private result(call: transcript.ToolCall): transcript.ToolResult {
    const { random, options } = this;
    const chars = random.chance(options.huge ?? 0.01)
      ? random.whole(30_000, 200_000)
      : random.whole(0, options.resultChars ?? 3_000);
    const parts: transcript.Part[] = chars === 0 ? [] : [text(this.text(chars))];
    if (random.chance(options.images ?? 0.04)) parts.push(this.image());
    const isError = random.chance(0.05);
    const outcome = isError ? transcript.ToolOutcome.FAILED : transcript.ToolOutcome.FINISHED;
    return create(transcript.ToolResultSchema, {
      callId: call.id,
      providerId: call.providerId,
      tool: call.name,
      parts,
      isError,
      outcome,
    });
  }

  private reasoning(): transcript.Block {
    const signature = textOf(this.random, 'base64', 80);
    return block({
      case: 'reasoning',
      value: create(transcript.ReasoningSchema, { text: this.text(200), signature, provider: 'p', model: 'm' }),
    });
  }

  private user(content: string, origin: transcript.UserOrigin): void {
    const parts = [text(content)];
    if (this.random.chance(this.options.images ?? 0.04)) parts.push(this.image());
    this.add({ case: 'user', value: create(transcript.UserMessageSchema, { parts, origin }) });
  }

  private image(): transcript.Part {
    const data = Uint8Array.from({ length: this.random.whole(20, 400) }, () => this.random.whole(0, 255));
    const value = create(transcript.ImageSchema, { mediaType: 'image/png', data, width: 640, height: 480 });
    return create(transcript.PartSchema, { kind: { case: 'image', value } });
  }

  private text(length: number): string {
    return textOf(this.random, this.random.pick(textKinds), this.random.whole(1, Math.max(1, length)));
  }

  private add(body: transcript.Entry['body']): void {
    const seq = this.entries.length + 1;
    const id = `00000000-0000-7000-8000-${String(seq).padStart(12, '0')}`;
    this.entries.push(create(transcript.EntrySchema, { seq, id, atMs: BigInt(seq), body }));
  }
}

function text(value: string): transcript.Part {
  return create(transcript.PartSchema, { kind: { case: 'text', value } });
}

function block(kind: transcript.Block['kind']): transcript.Block {
  return create(transcript.BlockSchema, { kind });
}
