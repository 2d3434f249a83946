import { create } from '@bufbuild/protobuf';
import { NightshiftError, task } from '@nightshift/contracts';
import type { Json } from '../http/present';
import { followTask, type FollowSource } from './follow-task';

function event(seq: number): task.TaskEvent {
  return create(task.TaskEventSchema, { seq, atMs: 5n, taskId: 't', kind: 'step_taken', dataJson: '{"n":1}' });
}

/** Answers of the owner in order; the last one is repeated. */
function sourceOf(answers: Array<{ events: number[]; more?: boolean; ended?: boolean } | Error>) {
  const asked: number[] = [];
  let wake: (seq: number) => void = () => undefined;
  let live: (type: string, data: Json) => void = () => undefined;
  let stopped = 0;
  const source: FollowSource = {
    query: async (after) => {
      asked.push(after);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return { events: (answer?.events ?? []).map(event), more: answer?.more ?? false, ended: answer?.ended ?? false };
    },
    onChanged: (callback) => {
      wake = callback;
      return () => (stopped += 1);
    },
    onLive: (callback) => {
      live = callback;
      return () => (stopped += 1);
    },
  };
  return { source, asked, wake: (seq: number) => wake(seq), live: (t: string, d: Json) => live(t, d), stopped: () => stopped };
}

function sinkOf() {
  const seen: Array<number | string> = [];
  const waiters: Array<{ what: number | string; done: () => void }> = [];
  const note = (what: number | string): void => {
    seen.push(what);
    for (const waiter of waiters) if (waiter.what === what) waiter.done();
  };
  const sink = {
    event: async (seq: number) => note(seq),
    live: (type: string) => note(type),
    end: () => note('end'),
  };
  const when = (what: number | string): Promise<void> =>
    seen.includes(what) ? Promise.resolve() : new Promise((done) => waiters.push({ what, done }));
  return { sink, seen, when };
}

const never = new AbortController().signal;

describe('followTask', () => {
  it('replays every page after the given number and ends with the task', async () => {
    const { source, asked, stopped } = sourceOf([
      { events: [3, 4], more: true },
      { events: [5], ended: true },
    ]);
    const { sink, seen } = sinkOf();
    await followTask(source, sink, 2, never);
    expect({ seen, asked, stopped: stopped() }).toEqual({ seen: [3, 4, 5, 'end'], asked: [2, 4], stopped: 2 });
  });

  it('drops what it has shown already and shows live pieces beside it', async () => {
    const { source, live, wake } = sourceOf([{ events: [1, 2] }, { events: [2, 3], ended: true }]);
    const { sink, seen, when } = sinkOf();
    const followed = followTask(source, sink, 0, never);
    await when(2);
    live('delta', {});
    wake(3);
    await followed;
    expect(seen).toEqual([1, 2, 'delta', 3, 'end']);
  });

  it('is not woken by what it knows', async () => {
    const stop = new AbortController();
    const { source, asked, wake } = sourceOf([{ events: [1, 2] }]);
    const { sink, when } = sinkOf();
    const followed = followTask(source, sink, 0, stop.signal);
    await when(2);
    wake(2);
    stop.abort();
    await followed;
    expect(asked).toEqual([0]);
  });

  it('keeps a wake-up that arrives while it is asking', async () => {
    const { source, wake, asked } = sourceOf([{ events: [1] }, { events: [2], ended: true }]);
    const { sink, seen } = sinkOf();
    const followed = followTask(source, { ...sink, event: async (seq) => (wake(2), sink.event(seq)) }, 0, never);
    await followed;
    expect({ seen, asked }).toEqual({ seen: [1, 2, 'end'], asked: [0, 1] });
  });

  it('asks again when the owner is away, and gives up on an error that stays', async () => {
    const away = sourceOf([new NightshiftError('UNAVAILABLE', 'restarting'), { events: [1], ended: true }]);
    const first = sinkOf();
    const followed = followTask(away.source, first.sink, 0, never);
    await new Promise(setImmediate);
    away.wake(1);
    await followed;
    expect(first.seen).toEqual([1, 'end']);

    const gone = sourceOf([new NightshiftError('NOT_FOUND', 'no such task')]);
    await expect(followTask(gone.source, sinkOf().sink, 0, never)).rejects.toThrow('NOT_FOUND');
    expect(gone.stopped()).toBe(2);
  });
});
