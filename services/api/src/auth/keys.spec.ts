import { hashOf, keyOf, looksLikeKey, mayAct, tokenOf } from './keys';

describe('keys', () => {
  it('makes a recognisable token of 32 random bytes and stores only its hash and start', () => {
    const key = keyOf(new Uint8Array(32).fill(7));
    expect(looksLikeKey(key.token)).toBe(true);
    expect(key).toEqual({ token: key.token, prefix: key.token.slice(0, 12), hash: hashOf(key.token) });
    expect(key.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('refuses a secret of another length', () => {
    expect(() => keyOf(new Uint8Array(16))).toThrow(RangeError);
  });

  it.each([
    [{ authorization: 'Bearer abc' }, 'abc'],
    [{ authorization: 'bearer  abc ' }, 'abc'],
    [{ 'x-api-key': 'abc' }, 'abc'],
    [{ authorization: 'Basic abc' }, undefined],
    [{ authorization: 'Bearer a b' }, undefined],
    [{}, undefined],
  ])('reads the token of %j', (headers, token) => {
    expect(tokenOf(headers)).toBe(token);
  });

  it.each([
    ['admin', 'member', true],
    ['member', 'member', true],
    ['reader', 'member', false],
    ['member', 'admin', false],
  ] as const)('a key of %s may do what needs %s: %s', (role, needed, allowed) => {
    expect(mayAct(role, needed)).toBe(allowed);
  });
});
