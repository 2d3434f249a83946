import { newCriteria, runStateTool } from './state-tools';
import { parseArguments } from './catalogue';

const open = { criteria: newCriteria(['tests pass', 'docs updated']), plan: [] };
const done = {
  criteria: open.criteria.map((criterion) => ({ ...criterion, done: true, evidence: 'npm test: 12 passed' })),
  plan: [],
};

describe('state tools', () => {
  it('a criterion is marked only with its evidence, and the rest is named', () => {
    expect(runStateTool(open, 'mark_criterion', { id: 'c1', evidence: 'npm test: 12 passed' })).toEqual({
      text: 'Criterion c1 is done. Open:\n[ ] c2: docs updated',
      isError: false,
      details: { criteria: [{ id: 'c1', text: 'tests pass', done: true, evidence: 'npm test: 12 passed' }, open.criteria[1]] },
    });
  });

  it('an unknown criterion is refused with the known ones', () => {
    expect(runStateTool(open, 'mark_criterion', { id: 'c9', evidence: 'npm test: 12 passed' })).toEqual({
      text: 'There is no criterion "c9". Criteria:\n[ ] c1: tests pass\n[ ] c2: docs updated',
      isError: true,
    });
  });

  it('finish is refused while criteria are open', () => {
    expect(runStateTool(open, 'finish', { result: 'all good' })).toMatchObject({ isError: true });
    expect(runStateTool(done, 'finish', { result: 'all good' })).toEqual({
      text: 'Finished.',
      isError: false,
      details: { result: 'all good' },
      finishes: true,
    });
  });

  it('set_goal keeps what is done and never gives an id twice', () => {
    const half = { criteria: [done.criteria[0]!, open.criteria[1]!], plan: [] };
    expect(runStateTool(half, 'set_goal', { criteria: ['lint is clean'] }).details).toEqual({
      criteria: [done.criteria[0], { id: 'c3', text: 'lint is clean', done: false, evidence: '' }],
    });
  });

  it('ask_user parks the task with the question', () => {
    expect(runStateTool(open, 'ask_user', { question: 'Which port?' })).toMatchObject({
      waits: true,
      details: { question: 'Which port?' },
    });
  });
});

describe('arguments of a call', () => {
  it.each([
    ['a made-up tool is named with the real ones', 'format_disk', '{}', /^There is no tool "format_disk"\. Tools: read_file, /],
    ['broken JSON is said to be that', 'finish', '{"result": ', /^The arguments of finish are not valid JSON/],
    [
      'every fault is listed with its place',
      'mark_criterion',
      '{"id": "", "evidence": "ok"}',
      /id: .*; evidence: expected at least 10/,
    ],
    ['a name of the object prototype is not a tool', 'constructor', '{}', /^There is no tool/],
  ])('%s', (_title, name, text, fault) => {
    expect(parseArguments(name, text)).toEqual({ ok: false, fault: expect.stringMatching(fault) });
  });

  it('good arguments come back typed', () => {
    expect(parseArguments('finish', '{"result":"done"}')).toEqual({ ok: true, value: { result: 'done' } });
  });
});
