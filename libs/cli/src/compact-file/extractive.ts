import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { cutHead, missingSections, summarySections, type SummaryCall } from '@nightshift/compaction';

/**
 * A summary without a model: the nine sections, filled with what stands in the transcript. Good enough to see where a session
 * would be cut and what would stay; a model writes a better one.
 */
export function extractiveSummary(call: SummaryCall): Promise<transcript.AssistantMessage> {
  const users: string[] = [];
  const files = new Set<string>();
  const errors: string[] = [];
  let lastText = '';
  for (const { body } of call.view.messages.slice(0, -1)) {
    if (body.case === 'user') users.push(textOf(body.value.parts));
    if (body.case === 'toolResults')
      for (const result of body.value.results) if (result.isError) errors.push(textOf(result.parts));
    if (body.case !== 'assistant') continue;
    for (const { kind } of body.value.blocks) {
      if (kind.case === 'text') lastText = kind.value;
      if (kind.case === 'toolCall')
        for (const path of kind.value.argumentsJson.match(/[\w./-]+\.\w{1,5}(?=")/g) ?? []) files.add(path);
    }
  }
  const line = (text: string) => cutHead(text.replaceAll(/\s+/g, ' ').trim(), 160);
  const list = (lines: Iterable<string>, most: number) =>
    [...lines]
      .slice(-most)
      .map((text) => `- ${line(text)}`)
      .join('\n') || '- none';
  const content: Record<number, string> = {
    1: list(users.slice(0, 1), 1),
    3: list(files, 20),
    4: list(errors, 5),
    6: list(users, 12),
    8: `- ${line(lastText) || 'none'}`,
  };
  const text = summarySections
    .map(({ number, title }) => `## ${number}. ${title}\n${content[number] ?? '- see the messages that follow'}`)
    .join('\n\n');
  if (missingSections(text, summarySections).length > 0) throw new Error('the extractive summary lacks a section');
  const block = create(transcript.BlockSchema, { kind: { case: 'text', value: text } });
  return Promise.resolve(
    create(transcript.AssistantMessageSchema, {
      blocks: [block],
      provider: 'extractive',
      model: 'extractive',
      stopReason: transcript.StopReason.END_TURN,
    }),
  );
}

function textOf(parts: readonly transcript.Part[]): string {
  return parts.map(({ kind }) => (kind.case === 'text' ? kind.value : '[image]')).join(' ');
}
