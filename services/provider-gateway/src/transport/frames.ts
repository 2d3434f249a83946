import { createParser } from 'eventsource-parser';

/** One unit of a streamed answer before it is understood: an SSE message, an NDJSON line, or text outside the framing. */
export interface Frame {
  event: string;
  data: string;
}

export interface FrameReader {
  feed(piece: string): Frame[];
  /** What was left when the body ended. */
  end(): Frame[];
}

/**
 * SSE with one addition: text that is no SSE field is not dropped but handed on as a frame named `stray`, because some
 * servers append a bare JSON error to a stream (Gemini, old llama.cpp builds).
 */
export function sseReader(): FrameReader {
  let out: Frame[] = [];
  let stray = '';
  const parser = createParser({
    onEvent: (message) => out.push({ event: message.event ?? '', data: message.data }),
    onError: (error) => {
      if (error.type === 'unknown-field' && error.line) stray += `${error.line}\n`;
    },
  });
  const take = (): Frame[] => {
    const frames = out;
    out = [];
    return frames;
  };
  return {
    feed(piece) {
      parser.feed(piece);
      return take();
    },
    end() {
      parser.feed('\n\n');
      const frames = take();
      // Old llama.cpp builds write `error: {…}` instead of a data field.
      const rest = stray.trim().replace(/^error: */, '');
      if (rest) frames.push({ event: 'stray', data: rest });
      return frames;
    },
  };
}

/** Newline-delimited JSON. */
export function ndjsonReader(): FrameReader {
  let rest = '';
  return {
    feed(piece) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      return lines.filter((line) => line.trim()).map((data) => ({ event: '', data }));
    },
    end() {
      const last = rest.trim();
      rest = '';
      return last ? [{ event: '', data: last }] : [];
    },
  };
}
