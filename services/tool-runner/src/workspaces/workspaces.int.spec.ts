import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { routes, type tool } from '@nightshift/contracts';
import { eventually } from '@nightshift/testing';
import { team, textOf } from '../../spec-kit/other-side';
import { withRunner } from '../../spec-kit/with-runner';

describe('workspaces', () => {
  const test = withRunner({ ANNOUNCE_EVERY_MS: '200' });
  const { side } = test;
  let repository = '';
  let opened = 0;

  const git = (directory: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: directory, encoding: 'utf8' }).trim();
  const nextId = (): string => `ws-${++opened}`;
  const key = side.runner;
  const diff = (workspaceId: string): Promise<tool.WorkspaceDiffReply> =>
    side.bus.request(routes.workspaceDiff, { workspaceId }, { team, key });
  const close = (workspaceId: string, keep = false): Promise<tool.WorkspaceCloseReply> =>
    side.bus.request(routes.workspaceClose, { workspaceId, keep }, { team, key });
  const run = async (workspaceId: string, command: string): Promise<string> =>
    textOf(await side.call('run_command', { command }, { workspaceId }));
  const newDirectory = (name: string): string => {
    const directory = join(test.sources, name);
    mkdirSync(directory);
    return directory;
  };

  beforeAll(() => {
    repository = newDirectory('repository');
    git(repository, 'init', '--quiet', '--initial-branch=main');
    writeFileSync(join(repository, 'a.txt'), 'one\ntwo\n');
    writeFileSync(join(repository, 'gone.txt'), 'gone\n');
    writeFileSync(join(repository, '.gitignore'), 'ignored/\n');
    git(repository, 'add', '.');
    git(repository, 'commit', '--quiet', '-m', 'first');
    git(repository, 'tag', 'v1');
    writeFileSync(join(repository, 'a.txt'), 'one\ntwo\nthree\n');
    git(repository, 'commit', '--quiet', '-am', 'second');
    git(repository, 'branch', 'topic', 'v1');
  });

  it('a git directory is used through a checkout of its own; the repository of the user is not touched', async () => {
    writeFileSync(join(repository, 'uncommitted.txt'), 'mine');
    const before = git(repository, 'status', '--porcelain=v2', '--branch') + git(repository, 'for-each-ref');
    const id = nextId();
    const { path, mode, baseCommit } = await side.open(id, { directory: repository });
    expect({ mode, baseCommit }).toEqual({ mode: 'worktree', baseCommit: git(repository, 'rev-parse', 'HEAD') });
    expect(path.startsWith(test.workspaceRoot)).toBe(true);
    const worked = await run(
      id,
      'echo four >> a.txt && git add -A && git commit -qm mine && git log --format=%s && git status --short && ls',
    );
    expect(worked).toMatch(/^mine\nsecond\nfirst\na.txt\ngone.txt\n\[exit code 0/);
    expect((await diff(id)).files).toMatchObject([{ path: 'a.txt', kind: 'changed' }]);
    const reach = `cat ${repository}/a.txt; cat ${repository}/.git/config; touch ${repository}/.git/objects/x; touch ${repository}/x`;
    expect(await run(id, reach)).toMatch(/No such file[^]*No such file[^]*Read-only file system/);
    expect(existsSync(join(repository, 'x'))).toBe(false);
    expect(git(repository, 'status', '--porcelain=v2', '--branch') + git(repository, 'for-each-ref')).toBe(before);
    rmSync(join(repository, 'uncommitted.txt'));
  });

  it.each(['in_place', 'copy'])(
    'the state to compare with is taken before the first change, not by a task that only reads: %s',
    async (mode) => {
      const directory = newDirectory(`first-change-${mode}`);
      writeFileSync(join(directory, 'a.txt'), 'one\n');
      const id = nextId();
      const { path } = await side.open(id, { directory, mode });
      await side.call('read_file', { path: 'a.txt' }, { workspaceId: id });
      expect(await diff(id)).toMatchObject({ files: [], patch: '' });
      expect(existsSync(join(test.workspaceRoot, team, id, 'baseline.git'))).toBe(false);
      // A person's own change before that is not the task's.
      writeFileSync(join(path, 'mine.txt'), 'by hand\n');
      await Promise.all([
        run(id, 'echo two >> a.txt'),
        side.call('write_file', { path: 'b.txt', content: 'b' }, { workspaceId: id }),
      ]);
      const { files, patch } = await diff(id);
      expect(files.map((file) => `${file.kind} ${file.path}`)).toEqual(['changed a.txt', 'created b.txt']);
      expect(patch).toContain('+two');
    },
  );

  it.each([
    ['a branch', 'topic', 'one\ntwo\n'],
    ['a tag', 'v1', 'one\ntwo\n'],
    ['nothing: its head', '', 'one\ntwo\nthree\n'],
  ])('a git URL is cloned fresh, at %s', async (_title, gitRef, content) => {
    const { path, mode } = await side.open(nextId(), { gitUrl: pathToFileURL(repository).href, gitRef });
    expect(mode).toBe('clone');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe(content);
  });

  it.each<[string, Parameters<typeof side.open>[1], RegExp]>([
    [
      'a directory outside of the roots',
      { directory: '/etc' },
      /PERMISSION_DENIED: \/etc is not a directory below one of the allowed roots/,
    ],
    ['one that is missing', { directory: '/nowhere' }, /PERMISSION_DENIED/],
    ['a relative one', { directory: 'x' }, /expected an absolute path/],
    ['a directory and a URL', { directory: '/x', gitUrl: 'https://x/y' }, /either a directory or a git URL/],
    ['a transport that runs programs', { gitUrl: 'ext::sh -c touch% /tmp/pwned' }, /expected an https, ssh or file URL/],
    ['a URL that is an option', { gitUrl: '--upload-pack=touch /tmp/pwned' }, /expected an https, ssh or file URL/],
    ['a repository outside of the roots', { gitUrl: 'file:///etc' }, /PERMISSION_DENIED/],
    ['an unknown mode', { directory: '/x', mode: 'magic' }, /expected worktree, copy or in_place/],
  ])('%s is refused', async (_title, from, message) => {
    await expect(side.open(nextId(), from)).rejects.toThrow(message);
  });

  it('a ref that is an option, or that does not exist, is refused', async () => {
    await expect(side.open(nextId(), { gitUrl: repository, gitRef: '--force' })).rejects.toThrow(
      'is not a branch, tag or commit',
    );
    await expect(side.open(nextId(), { gitUrl: repository, gitRef: 'nope' })).rejects.toThrow(
      'nope is not a branch, tag or commit',
    );
  });

  it('a link to a directory outside of the roots is refused', async () => {
    symlinkSync('/etc', join(test.sources, 'etc'));
    await expect(side.open(nextId(), { directory: join(test.sources, 'etc') })).rejects.toThrow('PERMISSION_DENIED');
  });

  it('an id that is a path is refused', async () => {
    await expect(side.open('../x', { directory: repository })).rejects.toThrow('expected an id of letters');
  });

  it('opening again gives the same workspace with its changes, also after a restart and at the same time', async () => {
    const id = nextId();
    const [first, second] = await Promise.all([
      side.open(id, { directory: repository }),
      side.open(id, { directory: repository }),
    ]);
    expect(second).toEqual(first);
    await run(id, 'echo kept > kept.txt');
    await test.restart();
    expect(await side.open(id, { directory: repository })).toEqual(first);
    expect(readFileSync(join(first.path, 'kept.txt'), 'utf8')).toBe('kept\n');
  });

  it('an opening that was cut off starts over', async () => {
    const id = nextId();
    const home = join(test.workspaceRoot, team, id);
    mkdirSync(join(home, 'tree'), { recursive: true });
    writeFileSync(join(home, 'tree/half'), '');
    const { path } = await side.open(id, { directory: repository });
    expect(existsSync(join(path, 'half'))).toBe(false);
    expect(existsSync(join(path, 'a.txt'))).toBe(true);
  });

  it('a patch holds text, binary, other encodings, modes, new and deleted files, and resumes on a fresh clone', async () => {
    const id = nextId();
    const { path } = await side.open(id, { directory: repository });
    const bytes = Buffer.from([0, 1, 2, 255, 254, 10, 13]);
    writeFileSync(join(path, 'binary.bin'), bytes);
    writeFileSync(join(path, 'latin1 name.txt'), Buffer.from('caf\xe9\n', 'latin1'));
    writeFileSync(join(path, 'dos.txt'), 'a\r\nb\r\n');
    writeFileSync(join(path, '.gitattributes'), '* text=auto filter=evil\n');
    writeFileSync(join(path, 'a.txt'), 'one\nTWO\nthree\n');
    writeFileSync(join(path, 'run.sh'), '#!/bin/sh\n');
    chmodSync(join(path, 'run.sh'), 0o755);
    rmSync(join(path, 'gone.txt'));
    mkdirSync(join(path, 'ignored'));
    writeFileSync(join(path, 'ignored/x'), 'x');
    const { patch, files, truncated } = await diff(id);
    expect(truncated).toBe(false);
    expect(files.map(({ path: name, kind }) => `${kind} ${name}`)).toEqual([
      'created .gitattributes',
      'changed a.txt',
      'created binary.bin',
      'created dos.txt',
      'deleted gone.txt',
      'created latin1 name.txt',
      'created run.sh',
    ]);
    expect(files[4]).toMatchObject({ beforeSha256: expect.stringMatching(/^[0-9a-f]{64}$/), afterSha256: '' });

    const resumed = await side.open(nextId(), { directory: repository, resume: true, patch });
    expect(readFileSync(join(resumed.path, 'binary.bin'))).toEqual(bytes);
    expect(readFileSync(join(resumed.path, 'latin1 name.txt'), 'latin1')).toBe('caf\xe9\n');
    expect(readFileSync(join(resumed.path, 'dos.txt'), 'utf8')).toBe('a\r\nb\r\n');
    expect(existsSync(join(resumed.path, 'gone.txt'))).toBe(false);
    expect((await diff(`ws-${opened}`)).patch).toBe(patch);
  });

  it('a directory without git is used in place, and its diff is against the state at opening', async () => {
    const directory = newDirectory('plain');
    writeFileSync(join(directory, 'x.txt'), 'x\n');
    const id = nextId();
    expect(await side.open(id, { directory })).toMatchObject({ mode: 'in_place', path: directory });
    expect((await diff(id)).files).toEqual([]);
    await run(id, 'echo y > y.txt');
    expect((await diff(id)).patch).toContain('+y');
    expect(await close(id)).toMatchObject({ removed: true, reason: expect.stringContaining('left as it is') });
    expect(readFileSync(join(directory, 'y.txt'), 'utf8')).toBe('y\n');
  });

  it('a copy is a copy', async () => {
    const directory = newDirectory('copied');
    writeFileSync(join(directory, 'x.txt'), 'x\n');
    const id = nextId();
    await side.open(id, { directory, mode: 'copy' });
    await run(id, 'echo changed > x.txt');
    expect(readFileSync(join(directory, 'x.txt'), 'utf8')).toBe('x\n');
    expect((await diff(id)).patch).toContain('+changed');
  });

  it('nothing that the agent puts into its repository runs in the runner', async () => {
    const id = nextId();
    const { path } = await side.open(id, { directory: repository });
    const pwned = join(test.sources, 'pwned');
    const script = `#!/bin/sh\ntouch ${pwned}\n`;
    await run(
      id,
      `printf '${script.replaceAll('\n', '\\n')}' > evil.sh && chmod +x evil.sh
      for hook in post-checkout post-index-change pre-commit fsmonitor-watchman; do cp evil.sh .git/hooks/$hook; done
      git config core.fsmonitor $PWD/evil.sh; git config diff.external $PWD/evil.sh; git config filter.evil.clean $PWD/evil.sh
      git config core.pager $PWD/evil.sh; git config core.worktree /; echo '* filter=evil diff=evil' > .gitattributes`,
    );
    const { files } = await diff(id);
    expect(files.map((file) => file.path)).toEqual(['.gitattributes', 'evil.sh']);
    await side.open(id, { directory: repository });
    await close(id);
    expect(existsSync(pwned)).toBe(false);
    expect(existsSync(path)).toBe(false);
  });

  it('in place, hooks and configuration of the repository cannot be written', async () => {
    const directory = newDirectory('in-place');
    git(directory, 'init', '--quiet');
    const id = nextId();
    await side.open(id, { directory, mode: 'in_place' });
    expect(await run(id, 'echo x > .git/hooks/pre-commit; git config a.b c; echo y > own.txt')).toMatch(
      /Read-only file system[^]*exit code 0/,
    );
  });

  it('rules of the project are given, but not through a link to the outside', async () => {
    const directory = newDirectory('ruled');
    symlinkSync('/etc/passwd', join(directory, 'AGENTS.md'));
    writeFileSync(join(directory, 'CLAUDE.md'), 'Second choice.');
    expect((await side.open(nextId(), { directory })).rules).toBe('Second choice.');
  });

  it('files are read for others with bounds; what cannot be read is said so', async () => {
    const directory = newDirectory('read');
    writeFileSync(join(directory, 'long.txt'), 'ä'.repeat(100));
    writeFileSync(join(directory, 'bytes'), Buffer.from([0, 1]));
    const id = nextId();
    await side.open(id, { directory });
    const paths = ['long.txt', 'bytes', 'missing', '../repository/a.txt'];
    const { files } = await side.bus.request(
      routes.workspaceRead,
      { workspaceId: id, paths, maxBytesPerFile: 11 },
      { team, key },
    );
    expect(files.map(({ path, content, unreadable, totalBytes }) => ({ path, content, unreadable, totalBytes }))).toEqual([
      { path: 'long.txt', content: 'ääääää'.slice(0, 5), unreadable: false, totalBytes: 200 },
      { path: 'bytes', content: '', unreadable: true, totalBytes: 0 },
      { path: 'missing', content: '', unreadable: true, totalBytes: 0 },
      { path: '../repository/a.txt', content: '', unreadable: true, totalBytes: 0 },
    ]);
  });

  it("another team's workspace does not exist", async () => {
    const id = nextId();
    await side.open(id, { directory: repository });
    await expect(side.bus.request(routes.workspaceDiff, { workspaceId: id }, { team: 'team-b', key })).rejects.toThrow(
      'WORKSPACE_LOST',
    );
  });

  it('a workspace that no live task has any more is removed after the next announcement', async () => {
    const id = nextId();
    const { path } = await side.open(id, { directory: repository });
    side.closedWorkspaces = [id];
    await eventually(() => !existsSync(path));
    side.closedWorkspaces = [];
    expect(textOf(await side.call('list_files', {}, { workspaceId: id }))).toContain('WORKSPACE_LOST');
  });
});
