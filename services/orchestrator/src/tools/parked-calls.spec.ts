import { task } from '@nightshift/contracts';
import type { CallDraft } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';
import { ParkedCalls } from './parked-calls';

const row = (id: string, epoch = 1, pending = task.Pending.TOOLS) => ({ teamId: 'acme', id, epoch, pending }) as TaskRow;
const draft = (callId: string, state: CallDraft['state'] = 'intended') => ({ callId, state, tool: 'read_file' }) as CallDraft;

describe('calls that a task waits for alone', () => {
  it('are given once, with the row as it was recorded', () => {
    const parked = new ParkedCalls();
    parked.keep(row('t1', 7), [draft('c1')]);
    expect(parked.take('acme', 't1', 'c1')).toMatchObject({ row: { epoch: 7 }, call: { callId: 'c1', result: undefined } });
    expect(parked.take('acme', 't1', 'c1')).toBeUndefined();
  });

  it.each<[string, () => ParkedCalls]>([
    ['another call', () => kept(row('t1'), [draft('c2')])],
    ['another team', () => kept({ ...row('t1'), teamId: 'umbrella' }, [draft('c1')])],
    ['several calls at once', () => kept(row('t1'), [draft('c1'), draft('c2')])],
    ['a call that was answered without running', () => kept(row('t1'), [draft('c1', 'failed')])],
    ['a task that does not wait for tools', () => kept(row('t1', 1, task.Pending.STEP), [draft('c1')])],
  ])('are not known for %s', (_title, make) => {
    expect(make().take('acme', 't1', 'c1')).toBeUndefined();
  });

  it('are forgotten oldest first', () => {
    const parked = new ParkedCalls();
    for (let task = 0; task < 2_001; task++) parked.keep(row(`t${task}`), [draft('c')]);
    expect(parked.take('acme', 't0', 'c')).toBeUndefined();
    expect(parked.take('acme', 't1', 'c')).toBeDefined();
  });
});

function kept(of: TaskRow, calls: readonly CallDraft[]): ParkedCalls {
  const parked = new ParkedCalls();
  parked.keep(of, calls);
  return parked;
}
