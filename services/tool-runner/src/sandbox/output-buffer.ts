import { head, tail } from '../files/text';

/**
 * Text of unknown length in bounded memory: the beginning and the end are kept, the middle is counted.
 * Escape sequences of terminals are dropped; what is not UTF-8 becomes U+FFFD.
 */
export class OutputBuffer {
  private readonly decoder = new TextDecoder('utf-8');
  private readonly half: number;
  private first = '';
  private last = '';
  /** Characters in `first` and `last` and dropped between them. */
  private total = 0;
  private bytes = 0;

  /** @param keepBytes how much is kept in total. */
  constructor(keepBytes: number) {
    this.half = Math.max(1, Math.floor(keepBytes / 2));
  }

  /** Takes bytes and gives the text they added. */
  push(chunk: Uint8Array): string {
    this.bytes += chunk.length;
    const text = plain(this.decoder.decode(chunk, { stream: true }));
    this.add(text);
    return text;
  }

  finish(): void {
    this.add(plain(this.decoder.decode()));
  }

  get bytesSeen(): number {
    return this.bytes;
  }

  /** Position after the newest character, for `since`. */
  get position(): number {
    return this.total;
  }

  text(): string {
    return this.since(0);
  }

  /** What came after a position; says so where something of it is no longer kept. */
  since(position: number): string {
    const lastStart = this.total - this.last.length;
    const fromFirst = this.first.slice(position);
    const fromLast = this.last.slice(Math.max(0, position - lastStart));
    const dropped = lastStart - Math.max(position, this.first.length);
    const gap = dropped > 0 ? `\n[… ${dropped} characters left out …]\n` : '';
    return `${gap ? head(fromFirst, fromFirst.length) : fromFirst}${gap}${gap ? tail(fromLast, fromLast.length) : fromLast}`.toWellFormed();
  }

  private add(text: string): void {
    this.total += text.length;
    const room = this.half - this.first.length;
    if (room > 0) this.first += text.slice(0, room);
    this.last += text.slice(Math.max(0, room));
    // Cut at twice the size, so that a stream of small chunks does not copy the tail each time.
    if (this.last.length > 2 * this.half) this.last = this.last.slice(-this.half);
  }
}

// eslint-disable-next-line no-control-regex
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

function plain(text: string): string {
  return text.replace(escapes, '').replaceAll('\0', '').replace(/\r\n/g, '\n');
}
