import { existsSync } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import type { ToolEffect } from '@nightshift/contracts';
import type { Answer, Intent } from '../tools/tool';

/** What the journal knows about a call. */
export interface Journaled {
  started?: Started;
  answer?: Answer;
}
export interface Started {
  tool: string;
  effect: ToolEffect;
  intent?: Intent;
}
type Line = { call: string; started: Started } | { call: string; answer: Answer };

/** Where a line lies in the file, in bytes. */
interface Span {
  at: number;
  length: number;
}
/** Results stay on the disk: a workspace may have thousands of calls, and a redelivery is rare. */
interface Known {
  started?: Started;
  startedAt?: Span;
  answerAt?: Span;
}
interface Waiting {
  line: Line;
  durable: boolean;
  done: () => void;
  failed: (error: unknown) => void;
}

/** Bytes above which the file is rewritten with what may still be asked for, and what a rewrite keeps of results. */
const maxBytes = 16 * 1024 * 1024;
const keepBytes = 4 * 1024 * 1024;

/**
 * One file of lines beside each workspace: what was started and what came out, on the disk before anything else happens.
 * A line that a crash cut off is dropped when the file is read.
 */
export class Journal {
  private calls = new Map<string, Known>();
  private bytes = 0;
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined;
  private flushing = false;
  private turn: Promise<void> = Promise.resolve();

  private constructor(
    private readonly path: string,
    private file: FileHandle,
  ) {}

  static async open(path: string): Promise<Journal> {
    const existed = existsSync(path);
    const journal = new Journal(path, await open(path, 'a+'));
    if (existed) await journal.load();
    return journal;
  }

  async find(call: string): Promise<Journaled> {
    const known = this.calls.get(call);
    if (!known) return {};
    const started = known.started ? { started: known.started } : {};
    if (!known.answerAt) return started;
    return this.alone(async () => {
      // Looked up again: a rewrite may have moved or dropped it while we waited.
      const span = this.calls.get(call)?.answerAt;
      const line = span && (JSON.parse((await this.bytesOf(span)).toString('utf8'), readBytes) as Line);
      return line && 'answer' in line ? { ...started, answer: line.answer } : started;
    });
  }

  /** Resolves once it is on the disk. A read-only call is repeated anyway, so its lines are written but not waited for. */
  started(call: string, started: Started): Promise<void> {
    return this.append({ call, started }, started.effect !== 'read-only');
  }

  result(call: string, answer: Answer): Promise<void> {
    return this.append({ call, answer }, this.calls.get(call)?.started?.effect !== 'read-only');
  }

  async close(): Promise<void> {
    await this.writing;
    await this.file.close();
  }

  private append(line: Line, durable: boolean): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ line, durable, done, failed });
      if (!this.flushing) this.writing = this.flush();
    });
  }

  /** Lines that came during a flush share the next one. */
  private async flush(): Promise<void> {
    this.flushing = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        if (this.bytes > maxBytes) await this.alone(() => this.rewrite());
        const lines = batch.map(({ line }) => Buffer.from(`${JSON.stringify(line, writeBytes)}\n`));
        await this.write(Buffer.concat(lines));
        lines.forEach((text, index) => this.learn((batch[index] as Waiting).line, text.length));
        if (batch.some(({ durable }) => durable)) await this.file.datasync();
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    // In the same turn as the look at `waiting`: a line that comes after it starts the next flush.
    this.flushing = false;
  }

  /** On a full disk half a line may be written: it is cut off again, or every later line would be glued to it. */
  private async write(text: Buffer): Promise<void> {
    try {
      await this.file.appendFile(text);
    } catch (error) {
      await this.file.truncate(this.bytes);
      throw error;
    }
  }

  private learn(line: Line, length: number): void {
    const known = this.calls.get(line.call) ?? {};
    const span = { at: this.bytes, length };
    this.calls.set(
      line.call,
      'started' in line ? { ...known, started: line.started, startedAt: span } : { ...known, answerAt: span },
    );
    this.bytes += length;
  }

  private async load(): Promise<void> {
    const content = await this.file.readFile();
    const complete = content.lastIndexOf(10) + 1;
    while (this.bytes < complete) {
      const end = content.indexOf(10, this.bytes) + 1;
      this.learn(JSON.parse(content.toString('utf8', this.bytes, end), readBytes) as Line, end - this.bytes);
    }
    // What a crash cut off would otherwise run into the next line.
    if (complete < content.length) await this.file.truncate(complete);
  }

  /** Open calls and the newest results go into a new file, which takes the place of the old one in one step. */
  private async rewrite(): Promise<void> {
    let room = keepBytes;
    const kept = [...this.calls].reverse().filter(([, { answerAt }]) => {
      if (!answerAt) return true;
      room -= answerAt.length;
      return room >= 0;
    });
    const parts: Buffer[] = [];
    const calls = new Map<string, Known>();
    let at = 0;
    const move = async (span: Span | undefined): Promise<Span | undefined> => {
      if (!span) return undefined;
      const text = await this.bytesOf(span);
      parts.push(text);
      at += text.length;
      return { at: at - text.length, length: text.length };
    };
    for (const [call, known] of kept.reverse()) {
      calls.set(call, { ...known, startedAt: await move(known.startedAt), answerAt: await move(known.answerAt) });
    }
    const fresh = await open(`${this.path}.tmp`, 'w');
    await fresh.writeFile(Buffer.concat(parts));
    await fresh.sync();
    await fresh.close();
    await rename(`${this.path}.tmp`, this.path);
    await this.file.close();
    this.file = await open(this.path, 'a+');
    this.calls = calls;
    this.bytes = at;
  }

  /** Reading and rewriting take turns: a rewrite replaces the file. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  private async bytesOf({ at, length }: Span): Promise<Buffer> {
    const { buffer } = await this.file.read(Buffer.alloc(length), 0, length, at);
    return buffer;
  }
}

// JSON knows no bytes: an image is written as base64 under a name that no other value has.
function writeBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const raw = this[key];
  return raw instanceof Uint8Array ? { $base64: Buffer.from(raw).toString('base64') } : value;
}

function readBytes(_key: string, value: unknown): unknown {
  const coded = (value as { $base64?: unknown } | null)?.$base64;
  return typeof coded === 'string' ? Buffer.from(coded, 'base64') : value;
}
