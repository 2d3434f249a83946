import type { MessageInitShape } from '@bufbuild/protobuf';
import type { llm } from '@nightshift/contracts';
import type { GatewayEvent } from '../core/gateway-event';

/** Live messages leave at most this often, or when this much has gathered; each one costs every reader a wake-up. */
const everyMs = 100;
const maxCharacters = 1_024;

type Kind = 'text' | 'reasoning' | 'toolCallName' | 'toolCallArguments';
type Send = (delta: MessageInitShape<typeof llm.DeltaSchema>) => void;

/** Gathers what a model writes into live messages. The first piece of a call leaves at once and voids what was shown before. */
export class DeltaPublisher {
  private kind: Kind = 'text';
  private pending = '';
  private restart = true;
  private lastSent = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly task: { taskId: string; epoch: number },
    private readonly send: Send,
  ) {}

  add(event: GatewayEvent): void {
    switch (event.kind) {
      case 'text':
        return this.gather('text', event.text);
      case 'reasoning':
        return this.gather('reasoning', event.text);
      case 'tool_call':
        this.gather('toolCallName', event.name);
        return this.flush();
      case 'tool_call_arguments':
        return this.gather('toolCallArguments', event.json);
      case 'attempt':
      case 'finished':
      case 'failed':
        return;
    }
  }

  /** Sends what is left; to be called at the end. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending === '') return;
    this.send({ ...this.task, restart: this.restart, kind: { case: this.kind, value: this.pending } });
    this.restart = false;
    this.pending = '';
    this.lastSent = performance.now();
  }

  private gather(kind: Kind, text: string): void {
    if (kind !== this.kind) this.flush();
    this.kind = kind;
    this.pending += text;
    const due = this.lastSent + everyMs - performance.now();
    if (this.pending.length >= maxCharacters || due <= 0) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), due);
  }
}
