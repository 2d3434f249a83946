import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { choiceOf } from '../follow/interrupt';
import { bodyOf } from './task';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nightshift-task-'));
  mkdirSync(path.join(folder, 'repo/.git'), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('bodyOf', () => {
  it.each([
    ['a git directory through a worktree', { workspace: 'repo' }, { directory: 'repo', mode: 'worktree' }],
    ['another directory as a copy', { workspace: '.' }, { directory: '.', mode: 'copy' }],
    ['the directory itself when asked', { workspace: 'repo', inPlace: true }, { directory: 'repo', mode: 'in_place' }],
    ['a copy when asked', { workspace: 'repo', copy: true }, { directory: 'repo', mode: 'copy' }],
  ])('uses %s', (_, options, expected) => {
    const body = bodyOf('g', { ...options, workspace: path.join(folder, options.workspace) });
    expect(body.workspace).toEqual({ ...expected, directory: path.join(folder, expected.directory) });
  });

  it('passes on what was asked and nothing else', () => {
    const body = bodyOf('g', { gitUrl: 'https://x/y', gitRef: 'main', model: ['a/b'], allowHost: ['npmjs.org'], maxOutput: 9 });
    expect(JSON.parse(JSON.stringify(body))).toEqual({
      goal: 'g',
      criteria: [],
      models: ['a/b'],
      workspace: { gitUrl: 'https://x/y', gitRef: 'main' },
      maxOutputTokens: 9,
      toolPolicy: { allowedHosts: ['npmjs.org'] },
    });
  });

  it.each([
    [{ workspace: '/a', gitUrl: 'https://x' }, /either --workspace or --git-url/],
    [{ workspace: '/a', inPlace: true, copy: true }, /either --in-place or --copy/],
  ])('refuses %j', (options, expected) => expect(() => bodyOf('g', options)).toThrow(expected));
});

describe('Ctrl-C', () => {
  it.each([
    ['d', 'detach'],
    ['C', 'cancel'],
    ['', 'stay'],
    ['what?', 'stay'],
  ])('and %j means %s', (answer, choice) => expect(choiceOf(answer)).toBe(choice));
});
