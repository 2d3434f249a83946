import type { ScriptedAnswer, Step } from './upstream';

/** Server-sent events from objects; an object with a string `type` is named after it, as Anthropic and Responses do. */
export function sse(...events: (object | string)[]): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return `data: ${event}\n\n`;
      const name = 'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

export function chatDelta(content: string): object {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    usage: null,
  };
}

/** A whole chat completion stream. */
export function chatStream(
  text: string,
  usage: object = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
): ScriptedAnswer {
  return {
    steps: [
      {
        write: sse(
          { choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
          ...text.split(/(?<= )/).map(chatDelta),
          { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
          { choices: [], usage },
          '[DONE]',
        ),
      },
    ],
  };
}

export function anthropicStart(usage: object = { input_tokens: 10, output_tokens: 1 }): object[] {
  return [
    { type: 'message_start', message: { id: 'msg', role: 'assistant', model: 'm', content: [], usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ];
}

export function anthropicDelta(text: string): object {
  return { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
}

/** A whole Anthropic message stream. */
export function anthropicStream(text: string, usage: object = { input_tokens: 10, output_tokens: 1 }): ScriptedAnswer {
  const steps: Step[] = [
    {
      write: sse(
        ...anthropicStart(usage),
        ...text.split(/(?<= )/).map(anthropicDelta),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ),
    },
  ];
  return { steps };
}

export function errorAnswer(status: number, body: object | string, headers: Record<string, string> = {}): ScriptedAnswer {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}
