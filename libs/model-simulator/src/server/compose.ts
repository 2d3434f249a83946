import { derivedId, signReasoning, type Answer, type AnswerBlock, type Move, type Stop } from '../answer';
import { cut } from '../answer-text';
import type { FaultAction } from '../config/fault-spec';
import type { FormatName, ModelSpec } from '../config/model-spec';
import { countTokens } from '../tokens/counter';

const idPrefixes: Record<FormatName, { answer: string; call: string; callLength: number }> = {
  anthropic: { answer: 'msg_sim', call: 'toolu_sim', callLength: 16 },
  'openai-chat': { answer: 'chatcmpl-sim', call: 'call_sim', callLength: 16 },
  'openai-responses': { answer: 'resp_sim', call: 'call_sim', callLength: 16 },
  ollama: { answer: 'sim', call: 'call_sim', callLength: 16 },
};

export interface Composition {
  readonly spec: ModelSpec;
  readonly model: string;
  readonly format: FormatName;
  /** Mistral wants ids of nine letters and digits. */
  readonly shortCallIds: boolean;
  readonly requestHash: string;
  readonly nowMs: number;
  readonly factor: number;
  /** Largest output in tokens: the request's or the model's own, or what the window leaves. */
  readonly limit: number;
  readonly limitedByWindow: boolean;
  readonly input: number;
  readonly cache: { readonly read: number; readonly write: number };
  readonly fault?: FaultAction;
}

/** A move made into an answer: ids, signatures, the output limit, usage, and what a fault does to the content. */
export function compose(move: Move, context: Composition): Answer {
  const drafted = applyContentFault(draft(move, context), context);
  const limited = limitOutput(drafted, context);
  const stop = stopOf(move, limited.cutOff, context);
  const reasoning = tokensOf(
    limited.blocks.filter((block) => block.type === 'reasoning'),
    context.factor,
  );
  return {
    id: derivedId(idPrefixes[context.format].answer, context.requestHash, 0),
    model: context.model,
    createdSeconds: Math.floor(context.nowMs / 1000),
    blocks: limited.blocks,
    stop: context.fault?.kind === 'length_zero_output' ? 'length' : stop,
    usage: usageOf(
      context,
      context.fault?.kind === 'length_zero_output' ? 0 : Math.min(context.limit, tokensOf(limited.blocks, context.factor)),
      reasoning,
    ),
  };
}

function draft(move: Move, context: Composition): AnswerBlock[] {
  const { requestHash, format } = context;
  const blocks: AnswerBlock[] = [];
  const reasoning = move.reasoning ?? (context.spec.reasoning ? 'Deciding the next step from the transcript.' : undefined);
  if (reasoning !== undefined && reasoning !== '')
    blocks.push({
      type: 'reasoning',
      id: derivedId('rs_sim', requestHash, 0),
      text: reasoning,
      signature: signReasoning(reasoning),
    });
  if (move.text !== undefined && move.text !== '')
    blocks.push({ type: 'text', text: move.text, deltas: move.deltas ?? cut(move.text, context.spec.latency.deltaChars) });
  (move.calls ?? []).forEach((call, index) => {
    const { call: prefix, callLength } = idPrefixes[format];
    const id = context.shortCallIds ? derivedId('', requestHash, index, 9) : derivedId(prefix, requestHash, index, callLength);
    blocks.push({
      type: 'call',
      id,
      itemId: derivedId('fc_sim', requestHash, index),
      name: call.name,
      json: JSON.stringify(call.arguments),
    });
  });
  return blocks;
}

function applyContentFault(blocks: AnswerBlock[], context: Composition): AnswerBlock[] {
  switch (context.fault?.kind) {
    case 'empty_text':
    case 'length_zero_output':
    case 'empty_stream':
      return [];
    case 'only_reasoning': {
      const text = 'Thinking about it, without ever coming to an answer.';
      return [{ type: 'reasoning', id: derivedId('rs_sim', context.requestHash, 0), text, signature: signReasoning(text) }];
    }
    case 'filtered_stop':
      return blocks.filter((block) => block.type === 'text').map((block) => textBlock(block.text.slice(0, 20), context));
    default:
      return blocks;
  }
}

function textBlock(text: string, context: Composition): AnswerBlock {
  return { type: 'text', text, deltas: cut(text, context.spec.latency.deltaChars) };
}

function limitOutput(blocks: readonly AnswerBlock[], context: Composition): { blocks: AnswerBlock[]; cutOff: boolean } {
  let left = context.limit;
  const kept: AnswerBlock[] = [];
  for (const block of blocks) {
    const size = tokensOf([block], context.factor);
    if (size <= left) {
      kept.push(block);
      left -= size;
      continue;
    }
    const text = contentOf(block);
    const shortened = text.slice(0, Math.floor((text.length * left) / size));
    if (block.type === 'text' && shortened !== '') kept.push(textBlock(shortened, context));
    if (block.type === 'call' && shortened !== '') kept.push({ ...block, json: shortened });
    return { blocks: kept, cutOff: true };
  }
  return { blocks: kept, cutOff: false };
}

function stopOf(move: Move, cutOff: boolean, context: Composition): Stop {
  if (context.fault?.kind === 'filtered_stop') return 'filter';
  if (context.fault?.kind === 'only_reasoning') return 'length';
  if (cutOff) return context.limitedByWindow ? 'window' : 'length';
  return move.stop ?? ((move.calls ?? []).length > 0 && context.fault?.kind !== 'empty_text' ? 'calls' : 'end');
}

function contentOf(block: AnswerBlock): string {
  return block.type === 'call' ? block.json : block.text;
}

function tokensOf(blocks: readonly AnswerBlock[], factor: number): number {
  return blocks.reduce(
    (sum, block) => sum + Math.ceil(countTokens(contentOf(block)) * factor) + (block.type === 'call' ? 8 : 0),
    0,
  );
}

function usageOf(context: Composition, output: number, reasoning: number): Answer['usage'] {
  if (context.fault?.kind === 'silent_truncation')
    return { input: Math.min(context.input, context.fault.servedTokens), cacheRead: 0, cacheWrite: 0, output, reasoning };
  return {
    input: context.input,
    cacheRead: Math.min(context.cache.read, context.input),
    cacheWrite: context.cache.write,
    output,
    reasoning,
  };
}
