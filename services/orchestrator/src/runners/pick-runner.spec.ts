import type { StoredWorkspace } from '../tasks/task-details';
import { pickRunner } from './pick-runner';
import type { RunnerRow } from './runner.store';

const runner = (id: string, over: Partial<RunnerRow> = {}): RunnerRow => ({
  id,
  sandboxed: true,
  sandboxReason: '',
  allowedRoots: ['/repos'],
  slots: 4,
  workspaces: 0,
  ...over,
});
const workspace = (over: Partial<StoredWorkspace> = {}): StoredWorkspace => ({
  id: 'w',
  directory: '/repos/app',
  gitUrl: '',
  gitRef: '',
  mode: '',
  path: '',
  baseCommit: '',
  runner: '',
  sandboxed: false,
  ...over,
});

describe('the runner of a workspace', () => {
  it.each([
    ['the least loaded that may', pickRunner([runner('a'), runner('b')], workspace()), { runner: 'a' }],
    ['the one that had it', pickRunner([runner('a'), runner('b')], workspace({ runner: 'b' })), { runner: 'b' }],
    [
      'one that can sandbox before one that cannot',
      pickRunner([runner('a', { sandboxed: false }), runner('b')], workspace()),
      { runner: 'b' },
    ],
    [
      'any for a clone',
      pickRunner([runner('a', { allowedRoots: [] })], workspace({ directory: '', gitUrl: 'https://x/y' })),
      { runner: 'a' },
    ],
    ['the root itself counts as below it', pickRunner([runner('a')], workspace({ directory: '/repos' })), { runner: 'a' }],
    [
      'none for a neighbour of the root with the same beginning',
      pickRunner([runner('a')], workspace({ directory: '/repos-secret' })),
      { reason: 'no tool runner may work in /repos-secret: it is below none of their allowed roots' },
    ],
    [
      'none for a way out of the root',
      pickRunner([runner('a')], workspace({ directory: '/repos/../etc' })),
      { reason: 'no tool runner may work in /repos/../etc: it is below none of their allowed roots' },
    ],
    ['none where there is none', pickRunner([], workspace()), { reason: 'no tool runner is there' }],
  ])('is %s', (_rule, actual, expected) => {
    expect(actual).toEqual(expected);
  });
});
