import { StringDecoder } from 'node:string_decoder';
import { parseJson, type JsonObject } from '../classify/json';
import type { AnswerEvent, Format } from '../formats/format';
import type { Exchange } from '../transport/exchange';
import type { UsageNumbers } from '../usage/normal-usage';

export interface UsageReport {
  numbers: UsageNumbers;
  raw: JsonObject;
}

/** What came in one go, and what it means. */
export interface AnswerPiece {
  bytes: Buffer;
  events: AnswerEvent[];
}

const nothing = Buffer.alloc(0);

/** The body of a 2xx answer, understood piece by piece; usage is reported at the end, however that comes. */
export function answerPieces(
  format: Format,
  exchange: Exchange,
  streamWanted: boolean,
  report: (usage: UsageReport) => void,
): AsyncGenerator<AnswerPiece, void, undefined> {
  // Some servers answer a streamed request with one JSON body, usually an error.
  const oneBody = /^application\/json/i.test(exchange.headers['content-type'] ?? '');
  return streamWanted && !oneBody ? streamed(format, exchange, report) : whole(format, exchange, report);
}

async function* streamed(
  format: Format,
  exchange: Exchange,
  report: (usage: UsageReport) => void,
): AsyncGenerator<AnswerPiece, void, undefined> {
  const reader = format.frames();
  const decoder = format.decoder();
  const text = new StringDecoder('utf8');
  try {
    for await (const bytes of exchange.pieces()) {
      yield { bytes, events: reader.feed(text.write(bytes)).flatMap((frame) => decoder.push(frame)) };
    }
    const rest = [...reader.feed(text.end()), ...reader.end()].flatMap((frame) => decoder.push(frame));
    yield { bytes: nothing, events: [...rest, ...decoder.finish()] };
  } finally {
    report(decoder.usage());
  }
}

async function* whole(
  format: Format,
  exchange: Exchange,
  report: (usage: UsageReport) => void,
): AsyncGenerator<AnswerPiece, void, undefined> {
  const bytes = await exchange.body();
  const text = bytes.toString('utf8');
  const body = parseJson(text);
  if (body === undefined) return yield { bytes, events: [{ kind: 'malformed', text }] };
  const answer = format.readBody(body);
  report({ numbers: answer.numbers, raw: answer.raw });
  yield { bytes, events: answer.events };
}
