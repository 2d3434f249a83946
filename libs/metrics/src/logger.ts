import { trace } from '@opentelemetry/api';
import { destination, pino, stdTimeFunctions } from 'pino';
import { createScrubber } from './scrub';

interface LogMethod {
  (message: string): void;
  (fields: object, message: string): void;
}

/** What the code logs with; abstract so that Nest can inject it by type. One line per event, no prompt or tool content. */
export abstract class Logger {
  abstract trace: LogMethod;
  abstract debug: LogMethod;
  abstract info: LogMethod;
  abstract warn: LogMethod;
  abstract error: LogMethod;
  abstract fatal: LogMethod;
  abstract child(bindings: object): Logger;
}

export interface LoggerOptions {
  service: string;
  /** pino's levels, or `silent`. */
  level?: string;
  /** Values that must never be printed, wherever they appear. */
  secrets?: readonly string[];
  instance?: string;
  version?: string;
  /** Where lines go; standard output unless given. */
  write?: (line: string) => void;
}

const hiddenPaths = [
  'authorization',
  'cookie',
  'password',
  'api_key',
  'apiKey',
  'token',
  'secret',
  '["x-api-key"]',
  '["x-goog-api-key"]',
  '["set-cookie"]',
].flatMap((name) => (name.startsWith('[') ? [name, `*${name}`, `*.*${name}`] : [name, `*.${name}`, `*.*.${name}`]));

/** JSON lines with ISO time, level as text and the ids of the active trace; secrets removed by path and by value. */
export function createLogger(options: LoggerOptions): Logger {
  const scrub = createScrubber(options.secrets ?? []);
  const out = options.write ?? writer();
  const logger = pino(
    {
      level: options.level ?? 'info',
      base: { service: options.service, instance: options.instance, version: options.version },
      messageKey: 'msg',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      redact: { paths: hiddenPaths, censor: '******' },
      errorKey: 'error',
      mixin: () => {
        const span = trace.getActiveSpan()?.spanContext();
        return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
      },
    },
    { write: (line: string) => out(scrub(line)) },
  );
  return logger as unknown as Logger;
}

/** Synchronous: the last line before a crash is the one that matters. */
function writer(): (line: string) => void {
  const stream = destination({ dest: 1, sync: true });
  return (line) => void stream.write(line);
}
