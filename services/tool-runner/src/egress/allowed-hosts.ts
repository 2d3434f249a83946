import { isIP, BlockList } from 'node:net';

/** Ports of a host that is named without one. */
const webPorts = [80, 443];

/**
 * Whether a task's policy lets commands reach a host. Entries: `example.com` (ports 80 and 443), `*.example.com` (its
 * subdomains), `example.com:8080`.
 */
export function isAllowed(host: string, port: number, entries: readonly string[]): boolean {
  const asked = normal(host);
  return entries.some((entry) => {
    const { name, ports } = parseEntry(entry);
    if (!ports.includes(port)) return false;
    return name.startsWith('*.') ? asked.endsWith(name.slice(1)) && asked.length > name.length - 1 : asked === name;
  });
}

function parseEntry(entry: string): { name: string; ports: readonly number[] } {
  const match = /^(.*?):(\d+)$/.exec(entry);
  // An IPv6 address holds colons itself and takes a port only in brackets.
  if (!match || (isIP(entry) === 6 && !entry.startsWith('['))) return { name: normal(entry), ports: webPorts };
  return { name: normal(match[1] as string), ports: [Number(match[2])] };
}

function normal(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

const inner = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  inner.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
  ['64:ff9b::', 96],
] as const) {
  inner.addSubnet(network, prefix, 'ipv6');
}

/** Addresses of this machine, of private networks and of cloud metadata: a public name must not lead there. */
export function isInner(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = mapped ?? address;
  return inner.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}
