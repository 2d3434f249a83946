import type { PassRow } from './pass.store';

/**
 * The generation whose pass is in effect. A generation that undid another shows what stood before that one, so several
 * undos in a row walk back pass by pass. 0 = no pass is in effect.
 */
export function activePass(passes: readonly Pick<PassRow, 'generation' | 'undoes'>[], generation: number): number {
  let at = generation;
  while (at > 0) {
    const pass = passes.find((one) => one.generation === at);
    if (!pass || pass.undoes === 0) return pass ? at : 0;
    at = pass.undoes - 1;
  }
  return 0;
}
