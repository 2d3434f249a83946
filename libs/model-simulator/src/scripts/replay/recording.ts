import type { JsonObject } from '../../json';

/** A recorded session, whatever tool wrote it: what the model said, what it called, what came back. */
export type RecordedEvent =
  | { readonly kind: 'user'; readonly text: string }
  | {
      readonly kind: 'assistant';
      /** Lines with the same key are one answer. */
      readonly key: string;
      readonly text: string;
      readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: JsonObject }[];
    }
  | { readonly kind: 'result'; readonly id: string; readonly text: string };

export interface RecordedCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** undefined: the session was cut before it came back. */
  readonly result: string | undefined;
}

export interface RecordedAnswer {
  readonly text: string;
  readonly calls: readonly RecordedCall[];
}

interface OpenAnswer {
  readonly key: string;
  text: string;
  readonly calls: { readonly id: string; readonly name: string; readonly arguments: JsonObject; result: string | undefined }[];
}

/** Answers in order, each call with its result: ids may repeat, so a result belongs to the nearest earlier call without one. */
export function foldRecording(events: readonly RecordedEvent[]): RecordedAnswer[] {
  const answers: OpenAnswer[] = [];
  for (const event of events) {
    if (event.kind === 'user') continue;
    if (event.kind === 'result') {
      const waiting = answers
        .flatMap((answer) => answer.calls)
        .filter((call) => call.id === event.id && call.result === undefined);
      const call = waiting.at(-1);
      if (call !== undefined) call.result = event.text;
      continue;
    }
    const last = answers.at(-1);
    const calls = event.calls.map((call) => ({ ...call, result: undefined }));
    if (last !== undefined && event.key !== '' && last.key === event.key) {
      last.text += event.text;
      last.calls.push(...calls);
    } else answers.push({ key: event.key, text: event.text, calls });
  }
  return answers.map(({ text, calls }) => ({
    text,
    calls: calls.map(({ name, arguments: given, result }) => ({ name, arguments: given, result })),
  }));
}
