import http, { type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One step of an answer. Times in milliseconds. */
export type Step =
  | { wait: number }
  | { write: string }
  /** Ends the connection inside the body. */
  | { cut: true }
  /** Keeps the connection open without another byte. */
  | { hang: true };

export interface ScriptedAnswer {
  /** `reset`: the connection is reset before any answer; `silent`: no answer at all. */
  connection?: 'reset' | 'silent';
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  steps?: readonly Step[];
}

export interface SeenRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
  /** The client closed the connection before the answer was complete. */
  closedEarly: boolean;
  closedAt: number;
}

export interface ScriptedUpstream {
  url: string;
  requests: SeenRequest[];
  close(): Promise<void>;
}

/** A provider that answers its n-th request with the n-th answer (the last one repeats); a function decides by request. */
export async function scriptedUpstream(
  answers: readonly ScriptedAnswer[] | ((request: SeenRequest, number: number) => ScriptedAnswer),
): Promise<ScriptedUpstream> {
  const requests: SeenRequest[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const seen: SeenRequest = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(pieces).toString('utf8'),
        at: Date.now(),
        closedEarly: false,
        closedAt: 0,
      };
      requests.push(seen);
      response.on('close', () => {
        seen.closedEarly = !response.writableFinished;
        seen.closedAt = Date.now();
      });
      const number = requests.length;
      const answer = typeof answers === 'function' ? answers(seen, number) : answers[Math.min(number, answers.length) - 1];
      if (answer) play(answer, request, response, timers);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function play(
  answer: ScriptedAnswer,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  timers: Set<NodeJS.Timeout>,
): void {
  if (answer.connection === 'silent') return;
  if (answer.connection === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  const streamed = answer.steps !== undefined;
  const type = streamed ? 'text/event-stream' : 'application/json';
  response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers });
  if (!streamed) {
    response.end(answer.body ?? '');
    return;
  }
  response.flushHeaders();
  const steps = [...(answer.steps ?? [])];
  const next = (): void => {
    for (;;) {
      const step = steps.shift();
      if (!step) {
        response.end();
        return;
      }
      if ('hang' in step) return;
      if ('cut' in step) {
        response.socket?.destroy();
        return;
      }
      if ('wait' in step) {
        const timer = setTimeout(() => {
          timers.delete(timer);
          next();
        }, step.wait);
        timers.add(timer);
        return;
      }
      response.write(step.write);
    }
  };
  next();
}
