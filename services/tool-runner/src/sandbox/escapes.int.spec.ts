import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { tool } from '@nightshift/contracts';
import { eventually } from '@nightshift/testing';
import { textOf } from '../../spec-kit/other-side';
import { commandLines } from '../../spec-kit/process-table';
import { withRunner } from '../../spec-kit/with-runner';

const secret = 'SECRET-OF-THE-HOST';

describe('escapes: none succeeds, and each leaves a clear error', () => {
  const test = withRunner({ COMMAND_ENVIRONMENT: 'OFFERED=yes,WITHHELD=no' });
  const { side } = test;
  let directory = '';
  let outside = '';
  let listener: Server | undefined;
  let port = 0;
  let connections = 0;

  beforeAll(async () => {
    process.env.RUNNER_SECRET = secret;
    directory = join(test.sources, 'project');
    outside = join(test.sources, 'outside');
    mkdirSync(directory);
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret.txt'), secret);
    writeFileSync(join(directory, 'own.txt'), 'own\n');
    symlinkSync(join(outside, 'secret.txt'), join(directory, 'link.txt'));
    symlinkSync('../outside', join(directory, 'link-dir'));
    symlinkSync('/', join(directory, 'root'));
    symlinkSync(join(outside, 'not-there'), join(directory, 'dangling'));
    symlinkSync('loop-b', join(directory, 'loop-a'));
    symlinkSync('loop-a', join(directory, 'loop-b'));
    await side.open('ws-1', { directory, mode: 'in_place' });
    listener = createServer((socket) => {
      connections++;
      socket.end('hello');
    });
    await new Promise<void>((resolve) => listener?.listen(0, '127.0.0.1', resolve));
    port = (listener.address() as { port: number }).port;
  });
  afterAll(() => {
    listener?.close();
    delete process.env.RUNNER_SECRET;
  });

  const leaves = /is outside of the workspace: only paths inside it can be used/;
  it.each<[string, string, (at: { outside: string }) => unknown, RegExp]>([
    ['an absolute path', 'read_file', (at) => ({ path: `${at.outside}/secret.txt` }), leaves],
    ['a relative path', 'read_file', () => ({ path: '../outside/secret.txt' }), leaves],
    ['a path that comes back', 'read_file', () => ({ path: 'x/../../outside/secret.txt' }), /no such directory|is outside/],
    ['a link to a file', 'read_file', () => ({ path: 'link.txt' }), leaves],
    ['a link to a directory', 'read_file', () => ({ path: 'link-dir/secret.txt' }), leaves],
    ['a link to the root', 'read_file', () => ({ path: 'root/etc/passwd' }), leaves],
    ['links in a circle', 'read_file', () => ({ path: 'loop-a' }), /too many links/],
    ['/proc', 'read_file', () => ({ path: '/proc/self/environ' }), leaves],
    ['a zero byte', 'read_file', () => ({ path: 'own.txt\0/../../x' }), /zero byte/],
    ['writing through a link', 'write_file', () => ({ path: 'link.txt', content: 'x' }), leaves],
    ['creating through a dangling link', 'write_file', () => ({ path: 'dangling', content: 'x' }), leaves],
    ['creating below a linked directory', 'write_file', () => ({ path: 'link-dir/new', content: 'x' }), leaves],
    ['creating directories outside', 'write_file', () => ({ path: '../fresh/new', content: 'x' }), leaves],
    ['a git hook', 'write_file', () => ({ path: '.git/hooks/pre-commit', content: 'x' }), /changed by git commands only/],
    ['editing through a link', 'edit_file', () => ({ path: 'link.txt', old_text: 'S', new_text: 'x' }), leaves],
    ['listing outside', 'list_files', () => ({ path: '..' }), leaves],
    ['listing a link to the root', 'list_files', () => ({ path: 'root/etc' }), leaves],
    ['searching outside', 'search_files', () => ({ pattern: 'SECRET', path: '../outside' }), leaves],
    ['a search that would follow links', 'search_files', () => ({ pattern: 'SECRET' }), /^\[no match\]$/],
    ['an option of ripgrep as pattern', 'search_files', () => ({ pattern: '--pre=sh', literal: true }), /^\[no match\]$/],
    ['an option of ripgrep as glob', 'list_files', () => ({ glob: '--pre=sh' }), /^\[nothing in \.\]$/],
    ['a command that starts outside', 'run_command', () => ({ command: 'ls', directory: '../outside' }), leaves],
  ])('files: %s', async (_title, name, args, expected) => {
    const text = textOf(await side.call(name, args({ outside })));
    expect(text).toMatch(expected);
    expect(text).not.toContain(secret);
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(secret);
    expect(existsSync(join(outside, 'new')) || existsSync(join(outside, 'not-there'))).toBe(false);
  });

  it('files: a directory swapped for a link while it is read never shows what is outside', async () => {
    mkdirSync(join(directory, 'swap'));
    writeFileSync(join(directory, 'swap/secret.txt'), 'harmless');
    const swap = 'while :; do mv swap swap2; ln -s ../outside swap; rm swap; mv swap2 swap; done 2>/dev/null';
    const started = textOf(await side.call('run_command', { command: swap, background: true }));
    const reads = await Promise.all(Array.from({ length: 150 }, () => side.call('read_file', { path: 'swap/secret.txt' })));
    const texts = new Set(reads.map((finished) => textOf(finished).replace(/^[A-Z_]+: .*$/s, 'refused')));
    expect([...texts].filter((text) => text !== 'harmless' && text !== 'refused')).toEqual([]);
    await side.call('stop_command', { handle: /cmd_\w+/.exec(started)?.[0] });
  });

  it.each<[string, string, RegExp]>([
    ['other directories of the host', 'ls $OUTSIDE; cat ../outside/secret.txt; cat link.txt', /No such file/],
    ['other workspaces and the journal', 'ls $ROOT; ls $ROOT/team-a', /No such file|cannot open/],
    ['the home of the operator', 'ls /root /home', /No such file/],
    [
      'the system is read-only',
      'touch /usr/bin/x; touch /etc/x; touch /x',
      /Read-only file system[^]*Read-only file system[^]*Read-only/,
    ],
    ['passwords', 'cat /etc/shadow; ls /etc/ssh', /No such file[^]*No such file/],
    ['remounting the system', 'mount -o remount,rw /usr; mount -o remount,bind,rw /usr; touch /usr/x', /Read-only file system/],
    ['a new user namespace', 'unshare -Ur true', /unshare failed|Operation not permitted|No space left/],
    ['chroot and device nodes', 'chroot / true; mknod disk b 254 0', /Operation not permitted[^]*Operation not permitted/],
    // Writes what is there already: a hole must not harm the machine that runs this test.
    [
      'kernel settings',
      'for f in kernel/core_pattern vm/swappiness; do v=$(cat /proc/sys/$f); echo "$v" > /proc/sys/$f && echo written; done',
      /^bash: [^\n]*Read-only file system\nbash: [^\n]*Read-only file system\n\[exit/,
    ],
    [
      'processes of the host',
      'ls /proc | grep -c "^[0-9]"; kill -9 $RUNNER; cat /proc/$RUNNER/environ',
      /^\d\n[^]*No such process[^]*No such file/,
    ],
    ['the root of process 1', 'ls /proc/1/root/root; cat /proc/1/environ', /No such file|denied/],
    ['sockets of the host', 'ls /run/docker.sock /var/run /run/dbus', /No such file/],
    [
      'capabilities and new privileges',
      'grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status',
      /CapEff:\s0+\nCapBnd:\s0+\nNoNewPrivs:\s1/,
    ],
    ['descriptors of the runner', 'ls /proc/self/fd', /^0\n1\n2\n3\n\[exit/],
    ['shared memory', 'ls -A /dev/shm | wc -l; touch /dev/shm/x && echo private', /^0\nprivate/],
    ['core dumps', 'ulimit -c', /^0\n/],
  ])('commands: %s', async (_title, command, expected) => {
    const prefix = `OUTSIDE=${outside} ROOT=${test.workspaceRoot} RUNNER=${process.pid}; `;
    const text = textOf(await side.call('run_command', { command: prefix + command }));
    expect(text).toMatch(expected);
    expect(text).not.toContain(secret);
  });

  it('commands: the environment holds the allow-list and nothing of the runner', async () => {
    const policy = create(tool.PolicySchema, { environmentAllow: ['OFFERED', 'RUNNER_SECRET', 'NATS_URL'] });
    const names = textOf(await side.call('run_command', { command: 'env | cut -d= -f1 | sort' }, { policy }))
      .split('\n')
      .slice(0, -1);
    const git = [
      'GIT_AUTHOR_EMAIL',
      'GIT_AUTHOR_NAME',
      'GIT_COMMITTER_EMAIL',
      'GIT_COMMITTER_NAME',
      'GIT_PAGER',
      'GIT_TERMINAL_PROMPT',
    ];
    const shell = ['PWD', 'SHLVL', '_', 'OLDPWD'];
    expect(names.filter((name) => !shell.includes(name))).toEqual(
      [...git, 'HOME', 'LANG', 'NO_COLOR', 'OFFERED', 'PAGER', 'PATH', 'TERM', 'TMPDIR'].sort(),
    );
  });

  it('commands: there is no network, not even to this machine', async () => {
    const command = `(echo > /dev/tcp/127.0.0.1/${port}) && echo reached; (echo > /dev/tcp/1.1.1.1/53) && echo reached; grep -c : /proc/net/dev`;
    expect(textOf(await side.call('run_command', { command }))).toMatch(/Connection refused[^]*Network is unreachable[^]*\n1\n/);
    expect(connections).toBe(0);
  });

  it('commands: a fork bomb stays below its limit and ends with the time-out', async () => {
    const policy = create(tool.PolicySchema, { maxProcesses: 40 });
    const bomb = 'bomb() { bomb | bomb & sleep 61500; }; bomb; sleep 61500';
    const callId = await side.send('run_command', { command: bomb, timeout_seconds: 2 }, { policy });
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, commandLines('sleep 61500').length)), 100);
    const finished = await side.reportOf(callId);
    clearInterval(watch);
    expect(textOf(finished)).toMatch(/\[ended after .*(the time-out|40 processes)/);
    expect(most).toBeLessThan(60);
    await eventually(() => commandLines('sleep 61500').length === 0);
  });

  it('commands: memory above the limit ends the command, not the machine', async () => {
    const policy = create(tool.PolicySchema, { memoryMb: 64 });
    const finished = await side.call('run_command', { command: 'head -c 300M /dev/zero | tail -c 290M | wc -c' }, { policy });
    expect(textOf(finished)).toMatch(/memory/i);
    expect(textOf(finished)).not.toMatch(/^304087040/m);
  });

  it('commands: endless output ends the command and keeps beginning and end', async () => {
    const policy = create(tool.PolicySchema, { maxOutputBytes: 20_000 });
    const finished = await side.call('run_command', { command: 'echo begin; yes' }, { policy });
    expect(textOf(finished)).toMatch(
      /^begin\ny\n[^]*characters left out[^]*\[ended after .*: it wrote far more than the 20000 bytes/,
    );
  });

  it('commands: one that ignores signals and closes its outputs ends with the time-out', async () => {
    const command = 'trap "" TERM HUP INT; exec >/dev/null 2>&1; while :; do sleep 61600; done';
    expect(textOf(await side.call('run_command', { command, timeout_seconds: 1 }))).toMatch(
      /\[ended after 1\.\d s: the time-out/,
    );
    await eventually(() => commandLines('sleep 61600').length === 0);
  });

  it('files: a pipe does not hang whoever reads it', async () => {
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    expect(textOf(await side.call('read_file', { path: 'pipe' }))).toContain('neither a file nor a directory');
  });

  it('a directory full of links to the outside is removed without following them', async () => {
    await side.open('ws-links', { directory, mode: 'copy' });
    await side.call('run_command', { command: `ln -s ${outside} out; ln -s ${outside} /tmp/out` }, { workspaceId: 'ws-links' });
    await test.runner.workspaces.remove('team-a', 'ws-links');
    expect(statSync(join(outside, 'secret.txt')).size).toBe(secret.length);
  });
});
