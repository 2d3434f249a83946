import { create } from '@bufbuild/protobuf';
import { deadletter, task, transcript } from '@nightshift/contracts';
import { present } from './present';

describe('present', () => {
  it('shows every plain field, enums by their word, int64 as numbers and messages only when set', () => {
    const message = create(task.TaskSchema, {
      id: 't1',
      state: task.TaskState.RUNNING,
      pending: task.Pending.STEP,
      createdAtMs: 1_750_000_000_000n,
      criteria: [{ id: 'c1', text: 'tests pass', done: true, evidence: 'npm test' }],
    });
    const json = present(task.TaskSchema, message);
    expect(json).toMatchObject({
      id: 't1',
      state: 'running',
      pending: 'step',
      createdAtMs: 1_750_000_000_000,
      endedAtMs: 0,
      goal: '',
      chain: [],
      criteria: [{ id: 'c1', text: 'tests pass', done: true, evidence: 'npm test' }],
    });
    expect(json).not.toHaveProperty('workspace');
  });

  it('puts the set member of a oneof under its own name', () => {
    const entry = create(transcript.EntrySchema, {
      seq: 1,
      id: 'e1',
      body: { case: 'user', value: { origin: transcript.UserOrigin.GOAL, parts: [{ kind: { case: 'text', value: 'hi' } }] } },
    });
    expect(present(transcript.EntrySchema, entry)).toEqual({
      seq: 1,
      id: 'e1',
      atMs: 0,
      user: { parts: [{ text: 'hi' }], origin: 'goal' },
    });
  });

  it('writes bytes as base64 and maps as objects', () => {
    const letter = create(deadletter.DeadLetterSchema, { body: new Uint8Array([1, 2, 255]), headers: { 'Ns-Team': 'a' } });
    expect(present(deadletter.DeadLetterSchema, letter)).toMatchObject({ body: 'AQL/', headers: { 'Ns-Team': 'a' } });
  });

  it('keeps the number of an enum value that this build does not know', () => {
    const message = create(task.ChangedSchema, { taskId: 't', state: 99 as task.TaskState });
    expect(present(task.ChangedSchema, message)).toMatchObject({ state: '99' });
  });
});
