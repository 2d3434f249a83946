import { isAllowed, isInner } from './allowed-hosts';

describe('hosts of a policy', () => {
  it.each<[string, number, string[], boolean]>([
    ['registry.npmjs.org', 443, ['registry.npmjs.org'], true],
    ['REGISTRY.npmjs.org.', 443, ['registry.npmjs.org'], true],
    ['registry.npmjs.org', 22, ['registry.npmjs.org'], false],
    ['evil.org', 443, ['registry.npmjs.org'], false],
    ['registry.npmjs.org.evil.org', 443, ['registry.npmjs.org'], false],
    ['api.example.com', 443, ['*.example.com'], true],
    ['example.com', 443, ['*.example.com'], false],
    ['badexample.com', 443, ['*.example.com'], false],
    ['example.com', 8080, ['example.com:8080'], true],
    ['example.com', 443, ['example.com:8080'], false],
    ['127.0.0.1', 9000, ['127.0.0.1:9000'], true],
    ['[::1]', 9000, ['[::1]:9000'], true],
    ['2001:db8::1', 443, ['2001:db8::1'], true],
    ['anything', 443, [], false],
  ])('%s:%d with %j: %s', (host, port, entries, expected) => {
    expect(isAllowed(host, port, entries)).toBe(expected);
  });

  it('inner addresses are recognised in every notation', () => {
    const inner = [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '192.168.1.1',
      '172.31.0.1',
      '::1',
      'fe80::1',
      'fd00::1',
      '::ffff:10.0.0.1',
    ];
    expect(inner.filter((address) => !isInner(address))).toEqual([]);
    expect(['1.1.1.1', '172.32.0.1', '2606:4700::1111'].filter(isInner)).toEqual([]);
  });
});
