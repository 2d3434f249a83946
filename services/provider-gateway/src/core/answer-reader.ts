import { StringDecoder } from 'node:string_decoder';
import { parseJson, type JsonObject } from '../classify/json';
import type { AnswerEvent, Format } from '../formats/format';
import type { UsageNumbers } from '../usage/normal-usage';

export interface UsageReport {
  numbers: UsageNumbers;
  raw: JsonObject;
}

/** Understands the body of a 2xx answer as its bytes come. */
export interface AnswerReader {
  feed(bytes: Buffer): AnswerEvent[];
  /** The body is over. */
  end(): AnswerEvent[];
  usage(): UsageReport;
}

/** Some servers answer a streamed request with one JSON body, usually an error. */
export function answerReader(format: Format, streamWanted: boolean, contentType: string | undefined): AnswerReader {
  return streamWanted && !/^application\/json/i.test(contentType ?? '') ? streamReader(format) : bodyReader(format);
}

function streamReader(format: Format): AnswerReader {
  const frames = format.frames();
  const decoder = format.decoder();
  const text = new StringDecoder('utf8');
  return {
    feed: (bytes) => frames.feed(text.write(bytes)).flatMap((frame) => decoder.push(frame)),
    end() {
      const rest = [...frames.feed(text.end()), ...frames.end()];
      return [...rest.flatMap((frame) => decoder.push(frame)), ...decoder.finish()];
    },
    usage: () => decoder.usage(),
  };
}

function bodyReader(format: Format): AnswerReader {
  const pieces: Buffer[] = [];
  let usage: UsageReport = { numbers: {}, raw: {} };
  return {
    feed(bytes) {
      pieces.push(bytes);
      return [];
    },
    end() {
      const text = (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)).toString('utf8');
      const body = parseJson(text);
      if (body === undefined) return [{ kind: 'malformed', text }];
      const answer = format.readBody(body);
      usage = { numbers: answer.numbers, raw: answer.raw };
      return answer.events;
    },
    usage: () => usage,
  };
}
