import { toBinary } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import type { tool } from '@nightshift/contracts';
import { cleanText, storableInt, storableJson } from '../tasks/storable';
import type { Closing } from './call.store';
import { fileArrays } from './file-sql';

/** What the ledger keeps of a closed call: state, result, ms, runner, changes. */
export function ledgerValues({ state, result, ms, runner, changes }: Closing): readonly unknown[] {
  const bytes = Buffer.from(toBinary(transcript.ToolResultSchema, result));
  return [state, bytes, storableInt(ms), cleanText(runner), storableJson(changes)];
}

/** Parameters $33 to $43 of the statement that records an outcome and closes one call with it. */
export function closingValues(
  callId: string,
  closing: Closing,
  finished: Pick<tool.Finished, 'seen' | 'changes'>,
): readonly unknown[] {
  return [callId, ...ledgerValues(closing), ...fileArrays(finished)];
}
