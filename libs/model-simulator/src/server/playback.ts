import type { ServerResponse } from 'node:http';
import type { ModelSpec } from '../config/model-spec';
import type { Frame } from '../formats/format';
import { presence } from './presence';

export type Interruption =
  | { readonly kind: 'cut' | 'early_end'; readonly afterDeltas: number }
  | { readonly kind: 'stall'; readonly afterDeltas: number; readonly ms: number }
  /** Text written as it is, in place of what follows or before it goes on. */
  | { readonly kind: 'insert'; readonly afterDeltas: number; readonly wire: string; readonly then: 'continue' | 'end' };

export interface Playback {
  readonly deltas: number;
  readonly ended: 'complete' | 'client_closed' | 'cut_by_fault';
}

/** Writes frames with the model's timing until the end, the interruption, or the client's leaving. */
export async function play(
  response: ServerResponse,
  frames: readonly Frame[],
  latency: ModelSpec['latency'],
  options: { firstTokenMs: number; tokens: number; interruption?: Interruption },
): Promise<Playback> {
  const { interruption, firstTokenMs } = options;
  const total = frames.filter((frame) => frame.kind === 'delta').length;
  const perDelta =
    latency.perDeltaMs +
    (latency.tokensPerSecond > 0 && total > 0 ? (options.tokens / latency.tokensPerSecond / total) * 1000 : 0);
  if (interruption === undefined && firstTokenMs === 0 && perDelta === 0) {
    response.end(frames.map((frame) => frame.wire).join(''));
    return { deltas: total, ended: 'complete' };
  }
  const clock = presence(response);
  let deltas = 0;
  let due = performance.now();
  const interruptHere = async (): Promise<Playback | undefined> => {
    if (interruption === undefined || deltas !== interruption.afterDeltas) return undefined;
    return interrupt(response, interruption, deltas, clock.wait);
  };
  for (const frame of frames) {
    if (frame.kind === 'delta') {
      due = Math.max(due + (deltas === 0 ? firstTokenMs : perDelta), 0);
      if (!(await clock.wait(due - performance.now()))) return { deltas, ended: 'client_closed' };
      if (deltas === 0) {
        const stopped = await interruptHere();
        if (stopped !== undefined) return stopped;
      }
      response.write(frame.wire);
      deltas++;
      const stopped = await interruptHere();
      if (stopped !== undefined) return stopped;
      continue;
    }
    if (frame.kind !== 'open' && deltas === 0 && total === 0) {
      if (!(await clock.wait(firstTokenMs))) return { deltas, ended: 'client_closed' };
      const stopped = await interruptHere();
      if (stopped !== undefined) return stopped;
    }
    if (clock.gone()) return { deltas, ended: 'client_closed' };
    response.write(frame.wire);
  }
  response.end();
  return { deltas, ended: 'complete' };
}

async function interrupt(
  response: ServerResponse,
  interruption: Interruption,
  deltas: number,
  wait: (ms: number) => Promise<boolean>,
): Promise<Playback | undefined> {
  switch (interruption.kind) {
    case 'cut':
      // What was written must reach the client first: a reset throws away what is still in the send buffer.
      await wait(5);
      response.socket?.resetAndDestroy();
      return { deltas, ended: 'cut_by_fault' };
    case 'early_end':
      response.end();
      return { deltas, ended: 'cut_by_fault' };
    case 'stall':
      if (!(await wait(interruption.ms))) return { deltas, ended: 'client_closed' };
      return undefined;
    case 'insert':
      response.write(interruption.wire);
      if (interruption.then === 'continue') return undefined;
      response.end();
      return { deltas, ended: 'cut_by_fault' };
  }
}
