import { tool } from '@nightshift/contracts';

export interface WaveCall {
  readonly place: 'state' | 'runner';
  readonly effect: tool.Effect;
}

/**
 * Which calls of one turn run together: neighbours that only read share a wave, every other call has its own, and
 * calls of the orchestrator are never mixed with calls of the runner. Order is kept, so a `finish` that follows a write
 * is judged after the write.
 * @returns the wave of each call, from 0.
 */
export function wavesOf(calls: readonly WaveCall[]): readonly number[] {
  const waves: number[] = [];
  let wave = -1;
  calls.forEach((call, index) => {
    const before = calls[index - 1];
    const joins =
      before !== undefined && before.place === call.place && (call.place === 'state' || (readsOnly(before) && readsOnly(call)));
    if (!joins) wave += 1;
    waves.push(wave);
  });
  return waves;
}

function readsOnly(call: WaveCall): boolean {
  return call.effect === tool.Effect.READ_ONLY;
}
