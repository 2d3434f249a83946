// The baseline: the least a Node process can do between a client and a server. Bodies are piped, nothing is read.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const target = new URL(process.argv[2] ?? '');
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity, scheduling: 'lifo' });

const server = http.createServer((incoming, outgoing) => {
  const { host: _host, connection: _connection, ...headers } = incoming.headers;
  const options = { host: target.hostname, port: target.port, path: target.pathname, method: incoming.method, headers, agent };
  const upstream = http.request(options, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  upstream.on('error', () => outgoing.destroy());
  incoming.pipe(upstream);
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => console.log(`bare proxy http://127.0.0.1:${(server.address() as AddressInfo).port}`));
