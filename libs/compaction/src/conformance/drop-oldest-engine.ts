import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { messageText } from '../tiers/summary-text';
import { renderView } from '../view/render';
import type { Engine, PassAsked, PassSaid, Session, TaskGiven } from './engine';
import { textFrom } from './notation';
import type { TextSpec } from './notation';

/**
 * What many agents do: count characters, and above half of the window drop messages from the front until it fits. It is here
 * to fail: its list of failed cases is asserted, which shows that the kit can tell the two apart.
 */
export const dropOldestEngine: Engine = {
  name: 'drop-oldest',
  open: (task) => new DropOldest(task),
  questions: {
    threshold: (input) => {
      const threshold = Math.floor((input['window'] as number) / 2);
      const fires = ((input['measured'] as number[] | undefined) ?? []).map((tokens) => tokens > threshold);
      return { threshold, effective: threshold, fires, tight: false, unknown: false, irreducible: null };
    },
    estimate: (input) => {
      const estimate = Math.floor(textFrom(input['text'] as TextSpec).length / 4);
      return { estimate, inflated: estimate };
    },
    cut: (input) => {
      const cut = textFrom(input['text'] as TextSpec).slice(0, input['at'] as number);
      return { length: cut.length, wellFormed: cut.isWellFormed() };
    },
  },
};

class DropOldest implements Session {
  private dropped = 0;
  private readonly chars = new Map<number, number>();

  constructor(private readonly task: TaskGiven) {}

  pass(entries: readonly transcript.Entry[], asked: PassAsked): Promise<PassSaid> {
    const threshold = Math.floor(asked.window / 2);
    const before = this.count(entries);
    if (before <= threshold && asked.reason === 'threshold')
      return Promise.resolve({ committed: false, outcome: 'no_longer_due', before, after: before });
    const target = Math.min(threshold, Math.floor(before * 0.6));
    while (this.count(entries) > target && this.dropped < entries.length - 1) this.dropped++;
    const after = this.count(entries);
    return Promise.resolve({
      committed: true,
      outcome: 'reduced',
      before,
      after,
      threshold,
      effective: threshold,
      landing: threshold,
      tiers: [],
    });
  }

  view(entries: readonly transcript.Entry[]): transcript.View {
    const view = renderView({ ...this.task, entries: [] });
    const messages = this.kept(entries).map(messageOf);
    return create(transcript.ViewSchema, { ...view, messages });
  }

  restore(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  private kept(entries: readonly transcript.Entry[]): readonly transcript.Entry[] {
    return entries.slice(this.dropped);
  }

  private count(entries: readonly transcript.Entry[]): number {
    let chars = 0;
    for (const entry of this.kept(entries)) chars += this.charsOf(entry);
    return Math.floor(chars / 4);
  }

  private charsOf(entry: transcript.Entry): number {
    const known = this.chars.get(entry.seq);
    if (known !== undefined) return known;
    const chars = messageText(messageOf(entry)).length;
    this.chars.set(entry.seq, chars);
    return chars;
  }
}

/** One message per entry, as it comes: results of a batch are not joined, and nothing is paired. */
function messageOf({ body }: transcript.Entry): transcript.ViewMessage {
  switch (body.case) {
    case 'user':
      return create(transcript.ViewMessageSchema, { body: { case: 'user', value: body.value } });
    case 'assistant':
      return create(transcript.ViewMessageSchema, { body: { case: 'assistant', value: body.value } });
    case 'toolResult': {
      const value = create(transcript.ToolResultsSchema, { results: [body.value] });
      return create(transcript.ViewMessageSchema, { body: { case: 'toolResults', value } });
    }
    case 'note':
    case undefined: {
      const parts = [
        create(transcript.PartSchema, { kind: { case: 'text', value: body.case === 'note' ? body.value.text : '' } }),
      ];
      return create(transcript.ViewMessageSchema, {
        body: { case: 'user', value: create(transcript.UserMessageSchema, { parts }) },
      });
    }
  }
}
