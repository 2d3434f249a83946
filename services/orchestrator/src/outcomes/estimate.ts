import { estimateEntry } from '@nightshift/compaction';
import type { transcript } from '@nightshift/contracts';

/** Plain estimate of an entry's body, in tokens. */
export const estimate = (body: transcript.Entry['body']): number => estimateEntry({ body });
