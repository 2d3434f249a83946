import type { Msg, MsgHdrs } from 'nats';

const encoder = new TextEncoder();
const ackBody = encoder.encode('+ACK');
const workingBody = encoder.encode('+WPI');
const termBody = encoder.encode('+TERM');

/** One delivery of a JetStream message; the answers are instructions to the server. The first final one counts. */
export class Delivered {
  readonly stream: string;
  readonly consumer: string;
  /** 1 = first. */
  readonly delivery: number;
  readonly streamSeq: number;
  private closed = false;

  constructor(private readonly message: Msg) {
    // $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.…, with domain and account hash in between on newer servers
    const tokens = (message.reply ?? '').split('.');
    const offset = tokens.length > 9 ? 4 : 2;
    this.stream = tokens[offset] ?? '';
    this.consumer = tokens[offset + 1] ?? '';
    this.delivery = Number(tokens[offset + 2]);
    this.streamSeq = Number(tokens[offset + 3]);
  }

  get subject(): string {
    return this.message.subject;
  }
  get body(): Uint8Array {
    return this.message.data;
  }
  get headers(): MsgHdrs | undefined {
    return this.message.headers;
  }

  ack(): void {
    this.end(ackBody);
  }
  /** Back to the queue, for any consumer of it, after the delay. */
  nak(delayMs: number): void {
    this.end(encoder.encode(`-NAK {"delay":${Math.max(1, Math.round(delayMs)) * 1_000_000}}`));
  }
  /** Still at it: restarts the server's ack_wait. */
  working(): void {
    if (!this.closed) this.message.respond(workingBody);
  }
  /** Never again. */
  term(): void {
    this.end(termBody);
  }

  private end(body: Uint8Array): void {
    if (this.closed) return;
    this.closed = true;
    this.message.respond(body);
  }
}
