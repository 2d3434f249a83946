import { proxySocketInside } from '../sandbox/bubblewrap';

/** Where programs inside find the proxy: in the sandbox's own network, which has nothing but loopback. */
const port = 3128;
const address = `http://127.0.0.1:${port}`;

/**
 * Runs inside the sandbox, before the command: programs speak to proxies over TCP, and the way out is a unix socket.
 * Kept in plain old JavaScript on one level: it is handed over as an argument, and must not need any file.
 */
const script = `
const net = require('net'), { spawn } = require('child_process');
const server = net.createServer((inside) => {
  const outside = net.connect('${proxySocketInside}');
  inside.on('error', () => outside.destroy()); outside.on('error', () => inside.destroy());
  inside.pipe(outside); outside.pipe(inside);
});
server.listen(${port}, '127.0.0.1', () => {
  const child = spawn(process.argv[1], process.argv.slice(2), { stdio: 'inherit' });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + require('os').constants.signals[signal] : code));
});`;

/** The command line that starts the bridge and then `shell`. */
export function bridged(shell: readonly string[]): string[] {
  return [process.execPath, '-e', script, '--', ...shell];
}

/** What tells programs about the proxy; both cases, since programs look for either. */
export const proxyEnvironment: Readonly<Record<string, string>> = {
  HTTP_PROXY: address,
  HTTPS_PROXY: address,
  http_proxy: address,
  https_proxy: address,
  NODE_USE_ENV_PROXY: '1',
  NO_PROXY: 'localhost,127.0.0.1',
  no_proxy: 'localhost,127.0.0.1',
};
