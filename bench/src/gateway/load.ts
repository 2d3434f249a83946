import http from 'node:http';

/** One way to make the same model call. */
export interface Way {
  name: string;
  /** Resolves when the answer is complete. */
  once(): Promise<void>;
}

export interface StreamTimes {
  firstMs: number;
  gapsMs: number[];
}

const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity, scheduling: 'lifo' });

/** A POST over kept-alive connections; `onData` sees every piece. Throws on a status other than 200. */
export function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  onData?: (at: number, piece: Buffer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const all = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers };
    const request = http.request(url, { method: 'POST', headers: all, agent }, (response) => {
      let error = '';
      response.on('data', (piece: Buffer) => {
        if (response.statusCode !== 200) error += piece.toString('utf8');
        else onData?.(performance.now(), piece);
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`${url}: ${response.statusCode} ${error}`)),
      );
      response.on('error', reject);
    });
    request.on('error', reject).end(body);
  });
}

/** Times of one streamed call: to the first piece, and between pieces. */
export async function streamOnce(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<StreamTimes> {
  const startedAt = performance.now();
  const at: number[] = [];
  await post(url, headers, body, (now) => at.push(now));
  const [first = NaN] = at;
  return { firstMs: first - startedAt, gapsMs: at.slice(1).map((time, index) => time - (at[index] ?? time)) };
}

/** Latencies of calls one after the other, in milliseconds. */
export async function oneByOne(way: Way, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const startedAt = performance.now();
    await way.once();
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** Calls per second with so many callers. */
export async function flatOut(way: Way, callers: number, forMs: number): Promise<number> {
  const until = performance.now() + forMs;
  const startedAt = performance.now();
  let done = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      await way.once();
      done++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return done / ((performance.now() - startedAt) / 1_000);
}
