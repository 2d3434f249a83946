import { lookup } from 'node:dns/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { isAllowed, isInner } from './allowed-hosts';

export interface Egress {
  /** Unix socket on which the proxy listens; bound into the sandbox of one command. */
  readonly socket: string;
  close(): void;
}

interface Rules {
  allowedHosts: readonly string[];
  /** Whether allowed names may lead to private networks and to this machine. */
  allowInner: boolean;
}

/** Milliseconds without a byte after which a connection is closed. */
const idleMs = 120_000;
const maxConnections = 128;

/**
 * An HTTP proxy for one command: the only way out of a sandbox without network. It resolves names itself and connects to
 * what it has checked, so that an answer of the name server cannot change in between.
 */
export async function openEgress(rules: Rules): Promise<Egress> {
  // Socket names end after 107 bytes: a directory below a deep workspace root would not do.
  const directory = mkdtempSync(join(tmpdir(), 'ns-egress-'));
  const socket = join(directory, 's');
  const open = new Set<Duplex>();
  const keep = (connection: Duplex): void => {
    open.add(connection);
    connection.once('close', () => open.delete(connection));
    // A peer that vanishes is the normal end of a connection here.
    connection.on('error', () => connection.destroy());
  };
  const server = createServer((incoming, outgoing) => void forward(incoming, outgoing, rules, keep));
  server.maxConnections = maxConnections;
  server.on('connection', (connection: Socket) => {
    connection.setTimeout(idleMs, () => connection.destroy());
    keep(connection);
  });
  server.on(
    'connect',
    (incoming: IncomingMessage, client: Duplex, head: Buffer) => void tunnel(incoming, client, head, rules, keep),
  );
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve));
  return {
    socket,
    close: () => {
      server.close();
      for (const connection of open) connection.destroy();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type Checked = { address: string } | { refused: string };

async function check(host: string, port: number, rules: Rules): Promise<Checked> {
  if (!isAllowed(host, port, rules.allowedHosts)) {
    return { refused: `${host}:${port} is not among the hosts this task may reach (${rules.allowedHosts.join(', ')})` };
  }
  try {
    const { address } = await lookup(host.replace(/^\[(.*)\]$/, '$1'));
    if (isInner(address) && !rules.allowInner)
      return { refused: `${host} leads to the inner address ${address}, which the operator does not allow` };
    return { address };
  } catch (error) {
    return { refused: `${host} cannot be resolved (${(error as NodeJS.ErrnoException).code ?? String(error)})` };
  }
}

async function tunnel(
  incoming: IncomingMessage,
  client: Duplex,
  head: Buffer,
  rules: Rules,
  keep: (connection: Duplex) => void,
): Promise<void> {
  const { host, port } = hostAndPort(incoming.url ?? '', 443);
  const checked = await check(host, port, rules);
  if ('refused' in checked) {
    client.end(`HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${checked.refused}\n`);
    return;
  }
  const upstream = connect({ host: checked.address, port });
  upstream.setTimeout(idleMs, () => upstream.destroy());
  keep(upstream);
  upstream.once('error', (error) => client.end(`HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n${error.message}\n`));
  upstream.once('connect', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  });
  client.once('close', () => upstream.destroy());
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  rules: Rules,
  keep: (connection: Duplex) => void,
): Promise<void> {
  if (!URL.canParse(incoming.url ?? '')) {
    outgoing.writeHead(400, { 'content-type': 'text/plain' }).end('expected a request for a proxy\n');
    return;
  }
  const url = new URL(incoming.url as string);
  const port = Number(url.port || 80);
  const checked =
    url.protocol === 'http:' ? await check(url.hostname, port, rules) : { refused: `${url.protocol} is not forwarded` };
  if ('refused' in checked) {
    outgoing.writeHead(403, { 'content-type': 'text/plain' }).end(`${checked.refused}\n`);
    return;
  }
  const { 'proxy-connection': _, ...headers } = incoming.headers;
  const upstream = request(
    {
      host: checked.address,
      port,
      method: incoming.method,
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host },
    },
    (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    },
  );
  upstream.setTimeout(idleMs, () => upstream.destroy());
  upstream.on('socket', keep);
  upstream.on('error', (error) => {
    if (!outgoing.headersSent) outgoing.writeHead(502, { 'content-type': 'text/plain' });
    outgoing.end(`${error.message}\n`);
  });
  outgoing.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

function hostAndPort(authority: string, fallback: number): { host: string; port: number } {
  const match = /^(.*?)(?::(\d+))?$/.exec(authority);
  return { host: match?.[1] ?? authority, port: match?.[2] ? Number(match[2]) : fallback };
}
