import { create } from '@bufbuild/protobuf';
import { NightshiftError, transcript } from '@nightshift/contracts';
import type { SummaryCall } from '../ladder/ports';
import { messageText } from '../tiers/summary-text';
import { summarySections } from '../tiers/summary-sections';

export const summarizerNames = [
  'extractive',
  'verbose',
  'empty',
  'refusing',
  'failing',
  'thinking',
  'tool_call',
  'missing',
] as const;
export type SummarizerName = (typeof summarizerNames)[number];
export type Summarize = (call: SummaryCall) => Promise<transcript.AssistantMessage>;

/** Models that cannot be trusted, and one that can. Answers are functions of the request alone. */
export const summarizers: Readonly<Record<SummarizerName, Summarize>> = {
  extractive: (call) => answer(extract(call, 60)),
  verbose: (call) => answer(extract(call, 4_000)),
  empty: () => answer(''),
  refusing: () => answer('I am sorry, but I cannot help with that.'),
  failing: () => Promise.reject(new NightshiftError('PROVIDER_UNAVAILABLE', 'connection reset')),
  thinking: () =>
    reply(
      [{ case: 'reasoning', value: create(transcript.ReasoningSchema, { text: 'let me think' }) }],
      transcript.StopReason.LENGTH,
    ),
  tool_call: () =>
    reply([{ case: 'toolCall', value: create(transcript.ToolCallSchema, { id: 'x', name: 'read_file', argumentsJson: '{}' }) }]),
  missing: () => answer('## 1. Requests and intent\nnothing else'),
};

/** The first words of each section's worth of messages: enough to recognise what it was made from. */
function extract(call: SummaryCall, charsEach: number): string {
  const texts = call.view.messages.slice(0, -1).map(messageText);
  const source = texts.length > 0 ? texts : call.view.messages.map(messageText);
  return summarySections
    .map((section, i) => {
      const text = source[Math.floor((i * source.length) / summarySections.length)] ?? '';
      return `## ${section.number}. ${section.title}\n${text.slice(0, charsEach).toWellFormed().replace(/\n/g, ' ')}`;
    })
    .join('\n');
}

function answer(text: string): Promise<transcript.AssistantMessage> {
  return reply(text === '' ? [] : [{ case: 'text', value: text }]);
}

function reply(
  kinds: transcript.Block['kind'][],
  stopReason = transcript.StopReason.END_TURN,
): Promise<transcript.AssistantMessage> {
  const blocks = kinds.map((kind) => create(transcript.BlockSchema, { kind }));
  return Promise.resolve(create(transcript.AssistantMessageSchema, { blocks, stopReason, provider: 'p', model: 'm' }));
}
