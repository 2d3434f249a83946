import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import type { AnswerEvent } from '../formats/format';

type Draft =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string; signature: string; opaqueJson: string }
  | { kind: 'tool_call'; providerId: string; name: string; json: string };

/** Puts the pieces of one attempt together, in the order in which their blocks appeared. */
export class AnswerDraft {
  private readonly blocks = new Map<number, Draft>();
  stop: transcript.StopReason | undefined;
  model = '';
  ended = false;
  /** Text, reasoning or a tool call was seen: from here on no other provider may continue. */
  hasContent = false;
  characters = 0;

  /** Takes one piece; true when it is content. */
  add(event: AnswerEvent): boolean {
    switch (event.kind) {
      case 'text':
      case 'reasoning': {
        if (event.text === '') return false;
        const block = this.blocks.get(event.block);
        if (block && block.kind === event.kind) block.text += event.text;
        else
          this.open(
            event.block,
            event.kind === 'text'
              ? { kind: 'text', text: event.text }
              : { kind: 'reasoning', text: event.text, signature: '', opaqueJson: '' },
          );
        return this.content(event.text.length);
      }
      case 'reasoning_seal': {
        const block = this.blocks.get(event.block);
        const draft =
          block?.kind === 'reasoning'
            ? block
            : this.open(event.block, { kind: 'reasoning', text: '', signature: '', opaqueJson: '' });
        if (draft.kind === 'reasoning') {
          draft.signature += event.signature ?? '';
          draft.opaqueJson = event.opaqueJson ?? draft.opaqueJson;
        }
        return false;
      }
      case 'tool_call':
        this.open(event.block, { kind: 'tool_call', providerId: event.providerId, name: event.name, json: '' });
        return this.content(event.name.length);
      case 'tool_call_arguments': {
        const block = this.blocks.get(event.block);
        if (block?.kind === 'tool_call') block.json += event.json;
        return this.content(event.json.length);
      }
      case 'stop':
        this.stop = event.reason;
        return false;
      case 'model':
        this.model = event.model;
        return false;
      case 'end':
        this.ended = true;
        return false;
      case 'error':
      case 'malformed':
        return false;
    }
  }

  get hasVisibleBlocks(): boolean {
    return [...this.blocks.values()].some((block) => block.kind !== 'reasoning');
  }

  /** @param newId gives UUIDs v7 for the tool calls */
  message(provider: string, model: string, newId: () => string): transcript.AssistantMessage {
    return create(transcript.AssistantMessageSchema, {
      provider,
      model,
      stopReason: this.stop ?? transcript.StopReason.UNSPECIFIED,
      blocks: [...this.blocks.values()].map((block) => {
        switch (block.kind) {
          case 'text':
            return { kind: { case: 'text' as const, value: block.text } };
          case 'reasoning':
            return {
              kind: {
                case: 'reasoning' as const,
                value: { text: block.text, signature: block.signature, opaqueJson: block.opaqueJson, provider, model },
              },
            };
          case 'tool_call':
            return {
              kind: {
                case: 'toolCall' as const,
                value: { id: newId(), providerId: block.providerId, name: block.name, argumentsJson: block.json || '{}' },
              },
            };
        }
      }),
    });
  }

  private open(index: number, draft: Draft): Draft {
    // The same number with another kind (reasoning and text of one Responses item) is a new block; both keep their place.
    const key = this.blocks.has(index) ? index + 0.001 * this.blocks.size : index;
    this.blocks.set(key, draft);
    return draft;
  }

  private content(characters: number): boolean {
    this.hasContent = true;
    this.characters += characters;
    return true;
  }
}
