import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes, type task, transcript } from '@nightshift/contracts';
import { eventually } from '@nightshift/testing';
import { team, textOf } from '../../spec-kit/other-side';
import { commandLines } from '../../spec-kit/process-table';
import { withRunner } from '../../spec-kit/with-runner';

const { CANCELLED, FINISHED, UNKNOWN } = transcript.ToolOutcome;

describe('stopping, losing the lease and repeating', () => {
  const test = withRunner({ ANNOUNCE_EVERY_MS: '200', LEASE_LOST_AFTER_MS: '1500' });
  const { side } = test;
  let directory = '';
  const stopTask = (taskId: string): Promise<task.StopReply[]> =>
    side.bus.gather(routes.taskStop, { taskId }, { team, waitMs: 2_000, expect: 1 });
  const lines = (name: string): number =>
    existsSync(join(directory, name)) ? readFileSync(join(directory, name), 'utf8').length : 0;

  beforeAll(async () => {
    directory = join(test.sources, 'project');
    mkdirSync(directory);
    await side.open('ws-1', { directory, mode: 'in_place' });
  });

  it('a stop ends the command with everything it started, within a second, and a repeated stop answers the same', async () => {
    const callId = await side.send(
      'run_command',
      { command: 'setsid sleep 61300 & (sleep 61301 &) ; touch up; sleep 61302' },
      {},
      'task-stop',
    );
    await eventually(() => existsSync(join(directory, 'up')));
    const asked = performance.now();
    const [reply] = await stopTask('task-stop');
    expect(performance.now() - asked).toBeLessThan(1_000);
    expect(reply).toMatchObject({ party: 'tool-runner', instance: 'runner-1', idle: true, stopped: 1 });
    expect(reply?.processesEnded).toBeGreaterThanOrEqual(3);
    expect(commandLines('sleep 6130')).toEqual([]);
    expect((await side.reportOf(callId)).result).toMatchObject({ isError: true, outcome: CANCELLED });
    expect((await stopTask('task-stop'))[0]).toMatchObject({ idle: true, stopped: 1, processesEnded: reply?.processesEnded });
  });

  it('a stop that overtakes its call still stops it', async () => {
    await stopTask('task-late');
    const finished = await side.call('write_file', { path: 'late', content: 'x' }, {}, 'task-late');
    expect(textOf(finished)).toBe('write_file was not started: the task was cancelled.');
    expect(finished.result?.outcome).toBe(CANCELLED);
    expect(existsSync(join(directory, 'late'))).toBe(false);
  });

  it('a stop of another task or of the same task id in another team changes nothing', async () => {
    const callId = await side.send('run_command', { command: 'sleep 0.5; echo done' }, {}, 'task-mine');
    await side.bus.gather(routes.taskStop, { taskId: 'task-mine' }, { team: 'team-b', waitMs: 1_000, expect: 1 });
    expect(textOf(await side.reportOf(callId))).toMatch(/^done\n/);
  });

  it('a second delivery of a running call attaches to it: one effect, and both are answered', async () => {
    const callId = await side.send('run_command', { command: 'echo x >> twice; sleep 1' });
    await eventually(() => lines('twice') > 0);
    await side.sendAs(callId, 'run_command', { command: 'echo x >> twice; sleep 1' }, {}, 'task-1', `${callId}:again`);
    expect((await side.reportOf(callId)).result?.outcome).toBe(FINISHED);
    await side.call('list_files', {});
    expect(lines('twice')).toBe(2);
    expect(side.claimed.filter((claim) => claim.callId === callId)).toHaveLength(1);
  });

  it('a store that is away delays the report, and nothing runs twice for it', async () => {
    side.putFaults = 2;
    const finished = await side.call('run_command', { command: 'echo x >> once; seq 1 9000' });
    expect(finished).toMatchObject({ replayedFromJournal: true, result: { outcome: FINISHED } });
    expect(lines('once')).toBe(2);
  });

  it('a background command is polled and stopped by its handle, and a foreign task cannot see it', async () => {
    const started = textOf(
      await side.call('run_command', { command: 'echo one; sleep 0.3; echo two; sleep 300', background: true }),
    );
    const handle = /cmd_\w+/.exec(started)?.[0] ?? '';
    const first = textOf(await side.call('command_output', { handle, wait_seconds: 5 }));
    expect(first).toBe(`one\n[${handle} is running]`);
    expect(textOf(await side.call('command_output', { handle, wait_seconds: 5 }))).toBe(`two\n[${handle} is running]`);
    expect(textOf(await side.call('command_output', { handle }, {}, 'task-other'))).toContain(`no background command ${handle}`);
    const stopped = await side.call('stop_command', { handle });
    expect(textOf(stopped)).toMatch(/^\[stopped after .* processes were killed\]$/);
    expect(stopped.processesEnded).toBeGreaterThan(0);
  });

  it('a background command dies with the stop of its task', async () => {
    await side.call('run_command', { command: 'while :; do echo >> beat; sleep 0.05; done', background: true }, {}, 'task-back');
    await eventually(() => lines('beat') > 2);
    expect((await stopTask('task-back'))[0]).toMatchObject({ idle: true, stopped: 1 });
    const then = lines('beat');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(lines('beat')).toBe(then);
  });

  it('without an answer to its announcements the runner ends what runs and takes nothing new until it is answered again', async () => {
    const callId = await side.send('run_command', { command: 'touch leased; sleep 300' });
    await eventually(() => existsSync(join(directory, 'leased')));
    side.answersAnnouncements = false;
    const killed = await side.reportOf(callId);
    expect(textOf(killed)).toMatch(/killed after .* the runner had lost its connection to the orchestrator/);
    expect(killed.result?.outcome).toBe(UNKNOWN);
    const waiting = await side.send('list_files', {});
    const before = side.claimed.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(side.claimed.length).toBe(before);
    side.answersAnnouncements = true;
    expect((await side.reportOf(waiting)).result?.outcome).toBe(FINISHED);
  });

  it('what a command leaves behind when it ends by itself dies with it', async () => {
    const finished = await side.call('run_command', { command: 'setsid sleep 61400 >/dev/null 2>&1 & disown; exit 0' });
    expect(textOf(finished)).toMatch(/^\[exit code 0/);
    await eventually(() => commandLines('sleep 61400').length === 0);
  });
});
