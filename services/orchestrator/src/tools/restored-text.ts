import type { toolresult } from '@nightshift/contracts';
import type { SourceState } from './source-now';
import type { StateToolArguments } from './state-tool-table';

type Asked = StateToolArguments<'restore_tool_result'>;

const since: Readonly<Record<SourceState, string>> = {
  unchanged: 'which is still the same',
  changed: 'which has changed since: read it again before relying on this',
  gone: 'which is no longer there as a text file',
  unknown: 'which may have changed since',
};

/** What the model reads about a restored result: the text, then what part of the whole it is, then what became of its source. */
export function restoredText(asked: Asked, reply: toolresult.RestoreReply, state: SourceState): string {
  const source = reply.sourcePath === '' ? '' : ` It was read from ${reply.sourcePath}, ${since[state]}.`;
  if (reply.data.length > 0) return `Image ${asked.id} (${reply.mediaType}).${source}`;
  if (asked.search !== undefined && reply.matches === 0) {
    return `No line of ${asked.id} contains ${JSON.stringify(asked.search)} (${reply.totalChars} characters searched).${source}`;
  }
  const whole = reply.text.length === reply.totalChars;
  const from = asked.offset ?? 0;
  const part =
    asked.search !== undefined
      ? `${reply.matches} matching lines of ${asked.id}${reply.truncated ? ', not all shown: narrow the search' : ''}`
      : whole
        ? `${asked.id}, whole, ${reply.totalChars} characters`
        : `${asked.id}, characters ${from} to ${from + reply.text.length} of ${reply.totalChars}; go on with offset ${from + reply.text.length}`;
  return `${reply.text}\n[${part}.${source}]`;
}
