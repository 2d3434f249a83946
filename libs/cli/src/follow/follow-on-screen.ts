import type { Api } from '../client/api';
import type { TaskEventJson, TaskJson } from '../client/shapes';
import { EventLines } from '../show/event-line';
import { Screen, standardOutput, type Output } from '../show/screen';
import { statusLine } from '../show/status-line';
import { follow, hasEnded } from './follow';
import { onInterrupt } from './interrupt';

export interface FollowOptions {
  /** Lines of JSON instead of text. */
  json?: boolean;
  after?: number;
  output?: Output;
}

/** Follows a task on the terminal; Ctrl-C detaches or cancels by choice. Returns the task as it was last seen. */
export async function followOnScreen(api: Api, id: string, options: FollowOptions = {}): Promise<TaskJson> {
  const output = options.output ?? standardOutput;
  const screen = new Screen(output);
  const lines = new EventLines();
  const stop = new AbortController();
  let detached = false;
  const release = onInterrupt(
    (question) => screen.line(question),
    (choice) => {
      if (choice === 'detach') {
        detached = true;
        stop.abort();
      } else if (choice === 'cancel') {
        screen.line('cancelling…');
        api
          .post(`/v1/tasks/${id}/cancel`, { reason: 'cancelled by the user' })
          .catch((error: unknown) => screen.line(String(error)));
      }
    },
  );
  const watcher = options.json
    ? { event: (event: object) => output.write(`${JSON.stringify(event)}\n`), task: () => undefined }
    : {
        event: (event: TaskEventJson) => {
          const line = lines.of(event);
          if (line) screen.line(line);
        },
        task: (task: TaskJson) => {
          screen.setStatus(statusLine(task));
          screen.settle();
        },
      };
  try {
    const task = await follow(api, id, watcher, stop.signal, options.after);
    screen.end();
    if (detached) screen.line(`detached; the task goes on. Follow it with: npx nightshift watch ${id}`);
    else if (!options.json && hasEnded(task)) for (const line of endingOf(task)) screen.line(line);
    return task;
  } finally {
    release();
  }
}

/** What to say once a task has ended. */
export function endingOf(task: TaskJson): string[] {
  const lines = [`${task.state}${task.reason ? `: ${task.reason}` : ''}`];
  if (task.result) lines.push('', task.result, '');
  for (const criterion of task.criteria) {
    lines.push(`${criterion.done ? '[x]' : '[ ]'} ${criterion.text}${criterion.evidence ? ` (${criterion.evidence})` : ''}`);
  }
  if (task.receipt) {
    const { receipt } = task;
    lines.push(
      `receipt: ${receipt.complete ? 'complete' : 'incomplete'}, ${receipt.callsStartedAfter} calls started after the request, ` +
        `${receipt.tokensBilled} tokens still billed, ${receipt.processesEnded} processes ended`,
    );
  }
  return lines;
}
