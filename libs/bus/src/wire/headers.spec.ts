import { checkTeam, deadlineAt, header, headerRecord, outgoingHeaders } from './headers';

describe('deadlineAt', () => {
  const now = 1_790_000_000_000;
  it.each([
    ['a budget counts from now', 5_000, now + 5_000],
    ['a day is still a budget', 86_400_000, now + 86_400_000],
    ['an absolute time stays', now + 77, now + 77],
    ['also one that has passed', now - 77, now - 77],
  ])('%s', (_rule, given, expected) => {
    expect(deadlineAt(given, now)).toBe(expected);
  });
});

describe('headers', () => {
  it('carry team, message id, deadline, keep-alive and claim check', () => {
    const out = outgoingHeaders({ team: 'team-a', messageId: 'm', deadlineAt: 12.9, keepAlive: 'k', claimCheck: 'c' });
    expect(headerRecord(out)).toEqual({
      'Ns-Team': 'team-a',
      'Nats-Msg-Id': 'm',
      'Ns-Deadline': '12',
      'Ns-Keep-Alive': 'k',
      'Ns-Claim-Check': 'c',
    });
    expect(header(out, 'Ns-Team')).toBe('team-a');
    expect([header(out, 'Ns-Reply'), header(undefined, 'Ns-Team')]).toEqual([undefined, undefined]);
  });

  it.each([[''], ['a.b'], ['>'], ['a b'], ['x'.repeat(65)], [undefined]])(
    'refuse a team that cannot stand in a subject: %j',
    (team) => {
      expect(() => checkTeam(team)).toThrow('INVALID_ARGUMENT: Ns-Team: expected letters');
    },
  );
});
