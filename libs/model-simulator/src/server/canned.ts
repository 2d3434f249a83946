import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../answer';
import { serverModel } from '../config/server-spec';
import type { Format, Frame, WriteContext } from '../formats/format';
import { vendorFor } from '../vendors/vendors';
import { banner } from './perform';
import { play } from './playback';
import { modelRoute } from './resolve';

export interface CannedSettings {
  readonly deltas: number;
  readonly perDeltaMs: number;
}

interface Canned {
  readonly head: Record<string, string>;
  readonly json: string;
  readonly frames: readonly Frame[];
  readonly streamType: string;
}

const model = 'sim-bench';

/**
 * /bench/…: the same ready answer to everything, without reading, counting or logging. For benchmarks of what stands in
 * front of it: the full path costs more than a fast gateway does.
 */
export class CannedAnswers {
  private readonly ready = new Map<Format, Canned>();
  private readonly latency;

  constructor(private readonly settings: CannedSettings) {
    this.latency = serverModel.parse({ latency: { perDeltaMs: settings.perDeltaMs } }).latency;
  }

  /** Answers when the path is one of a known format; tells whether it did. */
  answer(incoming: IncomingMessage, response: ServerResponse, path: string): boolean {
    const route = modelRoute(path);
    if (route === undefined) return false;
    const canned = this.cannedFor(route.format);
    let streamed = route.format.name === 'ollama';
    // A stream flag may be split over two chunks: the little text before a chunk is kept for the search.
    let seen = '';
    incoming.on('data', (chunk: Buffer) => {
      seen = seen.slice(-20) + chunk.toString('latin1');
      if (/"stream":\s*true/.test(seen)) streamed = true;
      if (/"stream":\s*false/.test(seen)) streamed = false;
    });
    incoming.on('end', () => {
      if (!streamed) {
        response.writeHead(200, canned.head);
        response.end(canned.json);
        return;
      }
      response.writeHead(200, { ...banner, 'content-type': canned.streamType });
      void play(response, canned.frames, this.latency, { firstTokenMs: 0, tokens: 0 });
    });
    return true;
  }

  private cannedFor(format: Format): Canned {
    const known = this.ready.get(format);
    if (known !== undefined) return known;
    const deltas = Array.from({ length: this.settings.deltas }, (_, index) => `w${index + 1} `);
    const answer: Answer = {
      id: 'sim-bench-1',
      model,
      createdSeconds: 1_780_000_000,
      blocks: [{ type: 'text', text: deltas.join(''), deltas }],
      stop: 'end',
      usage: { input: 20, cacheRead: 0, cacheWrite: 0, output: deltas.length, reasoning: 0 },
    };
    const context: WriteContext = {
      model,
      format: format.name,
      requestId: 'req_sim_bench',
      nowMs: 0,
      spec: serverModel.parse({}),
      vendor: vendorFor(undefined, undefined, format.name),
      request: {
        conversation: { model, system: '', tools: [], turns: [] },
        segments: [],
        stream: true,
        includeUsage: true,
        endsWithAssistant: false,
      },
    };
    const json = JSON.stringify(format.body(answer, context));
    const head = { ...banner, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) };
    const canned = { head, json, frames: format.frames(answer, context), streamType: format.streamType };
    this.ready.set(format, canned);
    return canned;
  }
}
