import type { NightshiftFile } from '@nightshift/config';
import type { ChainCandidate } from './task-details';

/** The chain of tasks that name no model: chains.default of nightshift.yaml. Empty = such tasks are refused. */
export class DefaultChain {
  readonly chain: readonly ChainCandidate[];

  constructor(file: NightshiftFile) {
    this.chain = (file.chains.default ?? []).map(({ provider, model }) => ({ provider, model, endpoint: '' }));
  }
}
