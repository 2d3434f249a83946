import { create } from '@bufbuild/protobuf';
import { fromMs, transcript } from '@nightshift/contracts';

export type BlockInit = { text: string } | { reasoning: string; signature?: string; opaqueJson?: string } | CallInit;
export interface CallInit {
  readonly call: string;
  readonly name: string;
  /** JSON, or free text that becomes `{"input": …}`. */
  readonly args: unknown;
}
type PartInit = string | { mediaType: string; base64: string };

interface Turn {
  readonly message: transcript.AssistantMessage;
  readonly atMs: number;
  readonly open: transcript.ToolCall[];
  readonly results: transcript.ToolResult[];
}
type Item =
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'entry'; readonly body: transcript.Entry['body']; readonly atMs: number };

/**
 * Collects messages in file order and pairs results with calls: a result goes to the nearest earlier unanswered call with its
 * id, since some agents use an id again. Results stand directly behind their turn, as every provider demands.
 */
export class SessionBuilder {
  private readonly items: Item[] = [];
  private readonly turns: Turn[] = [];
  private calls = 0;
  readonly warnings: string[] = [];
  system = '';

  user(parts: readonly PartInit[], atMs = 0): void {
    const kept = parts.filter((part) => typeof part !== 'string' || part !== '');
    if (kept.length === 0) return;
    const origin = this.items.length === 0 ? transcript.UserOrigin.GOAL : transcript.UserOrigin.STEER;
    this.items.push({
      kind: 'entry',
      atMs,
      body: { case: 'user', value: create(transcript.UserMessageSchema, { parts: kept.map(toPart), origin }) },
    });
  }

  /** What the other agent's platform said to its model (its own compaction summaries, for one). */
  note(kind: string, text: string, atMs = 0): void {
    if (text !== '')
      this.items.push({ kind: 'entry', atMs, body: { case: 'note', value: create(transcript.NoteSchema, { kind, text }) } });
  }

  /** Starts a turn, or goes on with `turn` (an answer that is spread over several records). */
  assistant(blocks: readonly BlockInit[], options: { provider?: string; model?: string; atMs?: number; turn?: Turn } = {}): Turn {
    const turn = options.turn ?? this.startTurn(options);
    for (const block of blocks)
      this.addBlock(turn, block, options.provider ?? turn.message.provider, options.model ?? turn.message.model);
    return turn;
  }

  /** Returns false when no call waits for this result. */
  result(call: string, parts: readonly PartInit[], options: { isError?: boolean } = {}): boolean {
    for (const turn of this.turns.toReversed()) {
      const at = turn.open.findIndex(({ providerId }) => providerId === call);
      if (at >= 0) {
        this.answer(turn, at, parts, options.isError ?? false);
        return true;
      }
    }
    return false;
  }

  /** Answers the call of a turn at a position, for formats that pair by place. */
  answerFirst(turn: Turn, parts: readonly PartInit[], options: { isError?: boolean } = {}): boolean {
    if (turn.open.length === 0) return false;
    this.answer(turn, 0, parts, options.isError ?? false);
    return true;
  }

  entries(): transcript.Entry[] {
    const entries: transcript.Entry[] = [];
    const push = (body: transcript.Entry['body'], atMs: number) => {
      const seq = entries.length + 1;
      entries.push(create(transcript.EntrySchema, { seq, id: `imported-${seq}`, atMs: fromMs(atMs), body }));
    };
    for (const item of this.items) {
      if (item.kind === 'entry') push(item.body, item.atMs);
      else if (item.turn.message.blocks.length > 0) {
        push({ case: 'assistant', value: item.turn.message }, item.turn.atMs);
        for (const value of item.turn.results) push({ case: 'toolResult', value }, item.turn.atMs);
      }
    }
    return entries;
  }

  private startTurn({ provider = '', model = '', atMs = 0 }: { provider?: string; model?: string; atMs?: number }): Turn {
    const message = create(transcript.AssistantMessageSchema, { provider, model, stopReason: transcript.StopReason.END_TURN });
    const turn: Turn = { message, atMs, open: [], results: [] };
    this.turns.push(turn);
    this.items.push({ kind: 'turn', turn });
    return turn;
  }

  private addBlock(turn: Turn, block: BlockInit, provider: string, model: string): void {
    const push = (kind: transcript.Block['kind']) => turn.message.blocks.push(create(transcript.BlockSchema, { kind }));
    if ('text' in block) {
      if (block.text.trim() !== '') push({ case: 'text', value: block.text });
    } else if ('reasoning' in block) {
      const { reasoning: text, signature = '', opaqueJson = '' } = block;
      if (text !== '' || opaqueJson !== '')
        push({ case: 'reasoning', value: create(transcript.ReasoningSchema, { text, signature, opaqueJson, provider, model }) });
    } else {
      this.calls += 1;
      const call = create(transcript.ToolCallSchema, {
        id: `call-${this.calls}`,
        providerId: block.call,
        name: block.name,
        argumentsJson: argumentsOf(block.args),
      });
      turn.open.push(call);
      turn.message.stopReason = transcript.StopReason.TOOL_CALLS;
      push({ case: 'toolCall', value: call });
    }
  }

  private answer(turn: Turn, at: number, parts: readonly PartInit[], isError: boolean): void {
    const [call] = turn.open.splice(at, 1);
    if (call === undefined) return;
    const outcome = isError ? transcript.ToolOutcome.FAILED : transcript.ToolOutcome.FINISHED;
    const value = { callId: call.id, providerId: call.providerId, tool: call.name, parts: parts.map(toPart), isError, outcome };
    turn.results.push(create(transcript.ToolResultSchema, value));
  }
}

function toPart(part: PartInit): transcript.Part {
  if (typeof part === 'string') return create(transcript.PartSchema, { kind: { case: 'text', value: part } });
  const image = create(transcript.ImageSchema, { mediaType: part.mediaType, data: Buffer.from(part.base64, 'base64') });
  return create(transcript.PartSchema, { kind: { case: 'image', value: image } });
}

/** Arguments are a JSON object in every protocol; what is none travels inside one. */
function argumentsOf(args: unknown): string {
  if (typeof args !== 'string') return JSON.stringify(args ?? {});
  try {
    const parsed: unknown = JSON.parse(args);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return args;
  } catch {
    // Free text, such as a patch.
  }
  return JSON.stringify({ input: args });
}
