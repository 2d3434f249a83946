import type { llm } from '@nightshift/contracts';
import type { Classified } from '../classify/classify';
import type { Observation } from './gateway-deps';

/**
 * What a failure teaches about a model. Only sizes whose pattern names them; a cap of the output is never stored as a
 * window. The registry decides what to believe (a figure far below the catalogue needs a second sighting).
 */
export function observationsOf(failure: Classified, candidate: llm.Candidate): Observation[] {
  const base = {
    provider: candidate.provider,
    endpoint: '',
    model: candidate.model,
    exactness: 'exact' as const,
    text: failure.message.slice(0, 500),
  };
  const { window, inputMax, outputMax } = failure.sizes;
  const found: Observation[] = [];
  if (window !== undefined) found.push({ ...base, kind: 'window', tokens: window });
  if (inputMax !== undefined) found.push({ ...base, kind: 'input_max', tokens: inputMax });
  if (outputMax !== undefined) found.push({ ...base, kind: 'output_max', tokens: outputMax });
  return found;
}
