import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  method: string;
  /** Path with query. */
  url: string;
  body: string;
}

/** A JSON value to answer with, or a function that answers by itself. */
export type ScriptedAnswer = unknown | ((request: SeenRequest, response: ServerResponse) => void);

export interface ScriptedHttp {
  readonly url: string;
  /** `GET /path` → answer; may be changed between requests. What is absent gives 404. */
  answers: Record<string, ScriptedAnswer>;
  readonly seen: SeenRequest[];
  /** Nothing listens any more until it is started again, on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** Somebody else's HTTP server, with answers written by the spec. */
export async function scriptedHttp(answers: Record<string, ScriptedAnswer> = {}): Promise<ScriptedHttp> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const asked: SeenRequest = { method: request.method ?? '', url: request.url ?? '', body };
      seen.push(asked);
      const answer = scripted.answers[`${asked.method} ${asked.url}`];
      if (typeof answer === 'function')
        return (answer as (request: SeenRequest, response: ServerResponse) => void)(asked, response);
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { error: 'not found' }));
    });
  });
  const listen = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  const port = await listen(0);
  const scripted: ScriptedHttp = {
    url: `http://127.0.0.1:${port}`,
    answers,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
    async start() {
      await listen(port);
    },
  };
  return scripted;
}
