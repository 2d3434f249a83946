import type { Answer, AnswerBlock } from '../../answer';
import { cut } from '../../answer-text';
import { isObject, listOf, objectOf } from '../../json';
import { sse, type Frame, type FrameKind, type WriteContext } from '../format';
import { encryptReasoning } from './items';

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

function itemOf(block: AnswerBlock, answer: Answer, status: Status, context: WriteContext): Record<string, unknown> {
  switch (block.type) {
    case 'reasoning':
      return {
        id: block.id,
        type: 'reasoning',
        summary: status === 'in_progress' ? [] : [{ type: 'summary_text', text: block.text }],
        ...(context.request.encryptedReasoning === true ? { encrypted_content: encryptReasoning(block.text) } : {}),
      };
    case 'text':
      return {
        id: `msg_${answer.id}`,
        type: 'message',
        role: 'assistant',
        status,
        content: status === 'in_progress' ? [] : [{ type: 'output_text', text: block.text, annotations: [], logprobs: [] }],
      };
    case 'call':
      return {
        id: block.itemId,
        type: 'function_call',
        status,
        call_id: block.id,
        name: block.name,
        arguments: status === 'in_progress' ? '' : block.json,
      };
  }
}

function statusOf(answer: Answer): { status: Status; reason?: string } {
  switch (answer.stop) {
    case 'length':
    case 'window':
      return { status: 'incomplete', reason: 'max_output_tokens' };
    case 'filter':
      return { status: 'incomplete', reason: 'content_filter' };
    case 'end':
    case 'calls':
    case 'stop_sequence':
      return { status: 'completed' };
  }
}

function responseOf(
  answer: Answer,
  context: WriteContext,
  status: Status,
  reason?: string,
  error: unknown = null,
): Record<string, unknown> {
  const { usage } = answer;
  const ended = status === 'completed' || status === 'incomplete';
  return {
    id: answer.id,
    object: 'response',
    created_at: answer.createdSeconds,
    status,
    background: false,
    error,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: null,
    max_output_tokens: context.request.requestedOutput ?? null,
    model: answer.model,
    output: ended ? answer.blocks.map((block) => itemOf(block, answer, 'completed', context)) : [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage:
      ended && context.usageFault === undefined
        ? {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cacheRead },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: usage.reasoning },
            total_tokens: usage.input + usage.output,
          }
        : null,
    metadata: {},
  };
}

export function responsesBody(answer: Answer, context: WriteContext): unknown {
  const { status, reason } = statusOf(answer);
  return responseOf(answer, context, status, reason);
}

/** Every event carries its type twice and a running number. */
class Events {
  readonly frames: Frame[] = [];

  add(kind: FrameKind, type: string, data: Record<string, unknown>): void {
    this.frames.push({ kind, wire: sse({ type, sequence_number: this.frames.length, ...data }, type) });
  }
}

export function responsesFrames(answer: Answer, context: WriteContext): Frame[] {
  const events = opened(answer, context);
  answer.blocks.forEach((block, index) => {
    events.add('open', 'response.output_item.added', {
      output_index: index,
      item: itemOf(block, answer, 'in_progress', context),
    });
    writeBlock(events, block, index, answer, context);
    events.add('close', 'response.output_item.done', { output_index: index, item: itemOf(block, answer, 'completed', context) });
  });
  const { status, reason } = statusOf(answer);
  events.add('terminator', `response.${status}`, { response: responseOf(answer, context, status, reason) });
  return events.frames;
}

function writeBlock(events: Events, block: AnswerBlock, index: number, answer: Answer, context: WriteContext): void {
  const chars = context.spec.latency.deltaChars;
  if (block.type === 'text') {
    const about = { item_id: `msg_${answer.id}`, output_index: index, content_index: 0 };
    const part = (text: string): unknown => ({ type: 'output_text', text, annotations: [], logprobs: [] });
    events.add('open', 'response.content_part.added', { ...about, part: part('') });
    for (const delta of block.deltas) events.add('delta', 'response.output_text.delta', { ...about, delta, logprobs: [] });
    events.add('close', 'response.output_text.done', { ...about, text: block.text, logprobs: [] });
    events.add('close', 'response.content_part.done', { ...about, part: part(block.text) });
  }
  if (block.type === 'call') {
    const about = { item_id: block.itemId, output_index: index };
    for (const delta of cut(block.json, chars))
      events.add('delta', 'response.function_call_arguments.delta', { ...about, delta });
    events.add('close', 'response.function_call_arguments.done', { ...about, name: block.name, arguments: block.json });
  }
  if (block.type === 'reasoning') {
    const about = { item_id: block.id, output_index: index, summary_index: 0 };
    events.add('open', 'response.reasoning_summary_part.added', { ...about, part: { type: 'summary_text', text: '' } });
    for (const delta of cut(block.text, chars)) events.add('delta', 'response.reasoning_summary_text.delta', { ...about, delta });
    events.add('close', 'response.reasoning_summary_text.done', { ...about, text: block.text });
    events.add('close', 'response.reasoning_summary_part.done', { ...about, part: { type: 'summary_text', text: block.text } });
  }
}

function opened(answer: Answer, context: WriteContext): Events {
  const events = new Events();
  events.add('open', 'response.created', { response: responseOf(answer, context, 'in_progress') });
  events.add('open', 'response.in_progress', { response: responseOf(answer, context, 'in_progress') });
  return events;
}

export function responsesEmptyFrames(answer: Answer, context: WriteContext): Frame[] {
  return opened(answer, context).frames;
}

/** Code and message out of whatever envelope the vendor's error has. */
function told(error: unknown): { code: unknown; message: unknown; type: unknown } {
  const body = Array.isArray(error) ? objectOf(listOf(error)[0]) : objectOf(error);
  const inner = isObject(body['error']) ? body['error'] : body;
  return {
    code: inner['code'] ?? inner['type'] ?? 'server_error',
    message: inner['message'] ?? inner['error'] ?? '',
    type: inner['type'] ?? null,
  };
}

/** The failed response as one frame: how this format tells an error after status 200. */
export function responsesErrorFrame(error: unknown, context: WriteContext, form: 'default' | 'error_event'): string {
  const { code, message, type } = told(error);
  if (form === 'error_event')
    return sse({ type: 'error', error: { type, code, message, param: null }, sequence_number: 2 }, 'error');
  const answer = emptyAnswer(context);
  return sse(
    {
      type: 'response.failed',
      sequence_number: 2,
      response: responseOf(answer, context, 'failed', undefined, { code, message }),
    },
    'response.failed',
  );
}

export function responsesFailedFrames(error: unknown, context: WriteContext): Frame[] {
  return [
    ...opened(emptyAnswer(context), context).frames,
    { kind: 'terminator', wire: responsesErrorFrame(error, context, 'default') },
  ];
}

function emptyAnswer(context: WriteContext): Answer {
  const usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  const createdSeconds = Math.floor(context.nowMs / 1000);
  return { id: context.requestId.replace('req_', 'resp_'), model: context.model, createdSeconds, blocks: [], stop: 'end', usage };
}
