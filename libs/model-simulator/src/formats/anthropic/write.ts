import type { Answer, AnswerBlock, Stop, Usage } from '../../answer';
import { cut } from '../../answer-text';
import { parseArguments } from '../../json';
import { sse, type Frame, type WriteContext } from '../format';

const stopReasons: Record<Stop, string> = {
  end: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  window: 'model_context_window_exceeded',
  filter: 'refusal',
  stop_sequence: 'stop_sequence',
};

/** input_tokens leaves the cached parts out; the total is the sum of three fields. */
function usageOf(usage: Usage, output: number): Record<string, unknown> {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: output,
    service_tier: 'standard',
  };
}

function contentOf(block: AnswerBlock): unknown {
  switch (block.type) {
    case 'reasoning':
      return { type: 'thinking', thinking: block.text, signature: block.signature };
    case 'text':
      return { type: 'text', text: block.text };
    case 'call':
      return { type: 'tool_use', id: block.id, name: block.name, input: parseArguments(block.json) };
  }
}

export function anthropicBody(answer: Answer, context: WriteContext): unknown {
  return {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: answer.blocks.map(contentOf),
    stop_reason: stopReasons[answer.stop],
    stop_sequence: null,
    ...(context.usageFault === undefined ? { usage: usageOf(answer.usage, answer.usage.output) } : {}),
  };
}

function frame(kind: Frame['kind'], data: { type: string }): Frame {
  return { kind, wire: sse(data, data.type) };
}

export function anthropicFrames(answer: Answer, context: WriteContext): Frame[] {
  const { spec } = context;
  const frames = anthropicEmptyFrames(answer, context);
  answer.blocks.forEach((block, index) => {
    const delta = (value: unknown): Frame =>
      frame('delta', { type: 'content_block_delta', index, delta: value } as { type: string });
    const start = (value: unknown): Frame =>
      frame('open', { type: 'content_block_start', index, content_block: value } as { type: string });
    switch (block.type) {
      case 'reasoning':
        frames.push(start({ type: 'thinking', thinking: '', signature: '' }));
        for (const piece of cut(block.text, spec.latency.deltaChars))
          frames.push(delta({ type: 'thinking_delta', thinking: piece }));
        frames.push(delta({ type: 'signature_delta', signature: block.signature }));
        break;
      case 'text':
        frames.push(start({ type: 'text', text: '' }));
        for (const piece of block.deltas) frames.push(delta({ type: 'text_delta', text: piece }));
        break;
      case 'call':
        frames.push(start({ type: 'tool_use', id: block.id, name: block.name, input: {} }));
        frames.push(delta({ type: 'input_json_delta', partial_json: '' }));
        for (const piece of cut(block.json, spec.latency.deltaChars))
          frames.push(delta({ type: 'input_json_delta', partial_json: piece }));
        break;
    }
    frames.push(frame('close', { type: 'content_block_stop', index } as { type: string }));
  });
  frames.push(
    frame('close', {
      type: 'message_delta',
      delta: { stop_reason: stopReasons[answer.stop], stop_sequence: null },
      ...(context.usageFault === undefined ? { usage: usageOf(answer.usage, answer.usage.output) } : {}),
    } as { type: string }),
    frame('terminator', { type: 'message_stop' }),
  );
  return frames;
}

export function anthropicEmptyFrames(answer: Answer, context: WriteContext): Frame[] {
  const usage = context.usageFault === undefined ? { usage: usageOf(answer.usage, 1) } : {};
  const message = {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  return [
    frame('open', { type: 'message_start', message: { ...message, ...usage } } as { type: string }),
    frame('open', { type: 'ping' }),
  ];
}
