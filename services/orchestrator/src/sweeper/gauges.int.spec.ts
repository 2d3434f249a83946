import { task } from '@nightshift/contracts';
import { createMetrics } from '@nightshift/metrics';
import { withDatabase } from '@nightshift/testing';
import { v7 } from 'uuid';
import { DeadLetterStore } from '../deadletters/deadletter.store';
import { Gauges } from './gauges';

const database = withDatabase();

interface Row {
  pending: task.Pending;
  minutes: number;
  due?: boolean;
  /** Minutes since its one tool call began. */
  command?: number;
}

async function put({ pending, minutes, due = true, command }: Row): Promise<void> {
  const id = v7();
  await database.pool.query(
    `INSERT INTO tasks (team_id, id, root_id, state, pending, due_at, memory, updated_at)
     VALUES ('t', $1, $1, $2, $3, CASE WHEN $4 THEN now() END, '{}', now() - $5 * interval '1 minute')`,
    [id, task.TaskState.RUNNING, pending, due, minutes],
  );
  if (command === undefined) return;
  await database.pool.query(
    `INSERT INTO tool_calls (team_id, task_id, call_id, provider_id, entry_seq, position, wave, tool, place, effect, state, arguments_json, started_at)
     VALUES ('t', $1, $2, 'p', 1, 0, 0, 'run_command', 'runner', 3, 'started', '{}', now() - $3 * interval '1 minute')`,
    [id, v7(), command],
  );
}

describe('the gauge of stalled tasks', () => {
  const stalled = async (): Promise<string | undefined> => {
    const metrics = createMetrics('orchestrator');
    new Gauges(database.pool, metrics, new DeadLetterStore(database.pool)).onApplicationBootstrap();
    return /^nightshift_tasks_stalled (\d+)$/m.exec(await metrics.text())?.[1];
  };
  beforeEach(async () => {
    await database.pool.query('DELETE FROM tool_calls');
    await database.pool.query('DELETE FROM tasks');
  });

  it.each<[string, string, Row]>([
    ['1', 'a step that is not recorded for 16 minutes', { pending: task.Pending.STEP, minutes: 16 }],
    ['0', 'a step of 14 minutes', { pending: task.Pending.STEP, minutes: 14 }],
    ['1', 'a pass that nobody finishes', { pending: task.Pending.COMPACTION, minutes: 20 }],
    ['1', 'calls that no runner takes', { pending: task.Pending.TOOLS, minutes: 20 }],
    ['0', 'a command that may take an hour', { pending: task.Pending.TOOLS, minutes: 20, command: 20 }],
    ['1', 'a command that took longer', { pending: task.Pending.TOOLS, minutes: 70, command: 65 }],
    ['0', 'a task that waits for its user', { pending: task.Pending.USER, minutes: 600, due: false }],
    ['0', 'a timer', { pending: task.Pending.TIMER, minutes: 30 }],
  ])('counts %s: %s', async (expected, _what, row) => {
    await put(row);
    expect(await stalled()).toBe(expected);
  });
});
