import type { transcript } from '@nightshift/contracts';

/** How a notice by the platform reads in the view. */
export function noticeText(note: transcript.Note): string {
  return `[platform notice: ${note.kind}] ${note.text}`;
}

/** Providers refuse empty content. */
export const emptyMessage = '(empty message)';
export const noOutput = '(no output)';
