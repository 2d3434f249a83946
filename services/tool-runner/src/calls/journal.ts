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

/** Bytes above which the file is rewritten with what may still be asked for. */
const maxBytes = 16 * 1024 * 1024;
/** Results kept by a rewrite: a redelivery comes soon after its call. */
const keepResults = 64;

/**
 * One file of lines beside each workspace: what was started and what came out, on the disk before anything else happens.
 * A line that a crash cut off is dropped when the file is read.
 */
export class Journal {
  private readonly calls = new Map<string, Journaled>();
  private file: FileHandle | undefined;
  private bytes = 0;
  private pending: { text: string; durable: boolean; done: () => void; failed: (error: unknown) => void }[] = [];
  private writing: Promise<void> | undefined;

  private constructor(private readonly path: string) {}

  static async open(path: string): Promise<Journal> {
    const journal = new Journal(path);
    const existed = existsSync(path);
    journal.file = await open(path, 'a+');
    if (existed) await journal.load();
    return journal;
  }

  find(call: string): Journaled {
    return this.calls.get(call) ?? {};
  }

  /** Resolves once it is on the disk. A read-only call is repeated anyway, so its lines are not waited for. */
  started(call: string, started: Started): Promise<void> {
    this.calls.set(call, { ...this.calls.get(call), started });
    return this.append({ call, started }, started.effect !== 'read-only');
  }

  result(call: string, answer: Answer): Promise<void> {
    const known = this.calls.get(call);
    this.calls.set(call, { ...known, answer });
    return this.append({ call, answer }, known?.started?.effect !== 'read-only');
  }

  async close(): Promise<void> {
    await this.writing;
    await this.file?.close();
    this.file = undefined;
  }

  private append(line: Line, durable: boolean): Promise<void> {
    return new Promise((done, failed) => {
      this.pending.push({ text: `${JSON.stringify(line, writeBytes)}\n`, durable, done, failed });
      this.writing ??= this.flush().finally(() => (this.writing = undefined));
    });
  }

  /** Lines that came during a flush share the next one. */
  private async flush(): Promise<void> {
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      try {
        if (this.bytes > maxBytes) await this.rewrite();
        const file = this.file as FileHandle;
        const text = batch.map((entry) => entry.text).join('');
        await file.appendFile(text);
        this.bytes += Buffer.byteLength(text);
        if (batch.some((entry) => entry.durable)) await file.datasync();
        for (const entry of batch) entry.done();
      } catch (error) {
        for (const entry of batch) entry.failed(error);
      }
    }
  }

  private async load(): Promise<void> {
    const file = this.file as FileHandle;
    const text = (await file.readFile()).toString('utf8');
    const complete = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(0, complete).split('\n')) {
      if (line === '') continue;
      const entry = JSON.parse(line, readBytes) as Line;
      const known = this.calls.get(entry.call);
      this.calls.set(entry.call, 'started' in entry ? { ...known, started: entry.started } : { ...known, answer: entry.answer });
    }
    this.bytes = Buffer.byteLength(text.slice(0, complete));
    // What a crash cut off would otherwise run into the next line.
    if (complete < text.length) await file.truncate(this.bytes);
  }

  /** Open calls and the newest results go into a new file, which takes the place of the old one in one step. */
  private async rewrite(): Promise<void> {
    const finished = [...this.calls].filter(([, known]) => known.answer !== undefined).map(([call]) => call);
    for (const call of finished.slice(0, -keepResults)) this.calls.delete(call);
    const lines = [...this.calls].flatMap(([call, { started, answer }]): Line[] => [
      ...(started ? [{ call, started }] : []),
      ...(answer ? [{ call, answer }] : []),
    ]);
    const text = lines.map((line) => `${JSON.stringify(line, writeBytes)}\n`).join('');
    const fresh = await open(`${this.path}.tmp`, 'w+');
    await fresh.appendFile(text);
    await fresh.sync();
    await rename(`${this.path}.tmp`, this.path);
    await this.file?.close();
    this.file = fresh;
    this.bytes = Buffer.byteLength(text);
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
