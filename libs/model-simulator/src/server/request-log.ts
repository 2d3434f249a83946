import { closeSync, openSync, writeSync } from 'node:fs';
import type { Usage } from '../answer';

/** A request for metadata. */
export interface MetadataLine {
  readonly kind: 'metadata';
  readonly number: number;
  readonly at: string;
  readonly server: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly mode: string;
  readonly status: number;
  readonly ms: number;
}

/** A model request. */
export interface LogLine {
  readonly kind: 'model';
  /** Order of arrival, from 1. */
  readonly number: number;
  readonly at: string;
  readonly mount: string;
  readonly path: string;
  readonly format: string;
  readonly model: string;
  /** Number of the request for its model, from 1. */
  readonly request: number;
  readonly purpose: string;
  readonly stream: boolean;
  readonly tools: number;
  readonly messages: number;
  /** Input tokens as this server counts them. */
  readonly input: number;
  readonly requestedOutput?: number;
  readonly window?: number;
  readonly status: number;
  readonly usage?: Usage;
  readonly stop?: string;
  readonly calls?: readonly string[];
  readonly fault?: string;
  /** Why the request itself was refused. */
  readonly refused?: string;
  readonly deltas: number;
  /** complete · client_closed · cut_by_fault */
  readonly ended: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly firstByteMs?: number;
  readonly closedAt: string;
  readonly ms: number;
}

const REMEMBERED = 5_000;

/** One line per request, written before anything else can happen, so that a killed process leaves a complete file. */
export class RequestLog {
  private file: number | undefined;
  private readonly lines: (LogLine | MetadataLine)[] = [];
  private arrived = 0;

  constructor(path: string | undefined) {
    this.file = path === undefined ? undefined : openSync(path, 'a', 0o644);
  }

  arrive(): number {
    return ++this.arrived;
  }

  write(line: LogLine | MetadataLine): void {
    if (this.file !== undefined) writeSync(this.file, `${JSON.stringify(line)}\n`);
    this.lines.push(line);
    if (this.lines.length > REMEMBERED) this.lines.splice(0, this.lines.length - REMEMBERED / 2);
  }

  recent(): readonly (LogLine | MetadataLine)[] {
    return this.lines;
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }
}

export function isModelLine(line: LogLine | MetadataLine): line is LogLine {
  return line.kind === 'model';
}
