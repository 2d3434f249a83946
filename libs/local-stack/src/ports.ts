import { connect, createServer } from 'node:net';
import { NightshiftError } from '@nightshift/contracts';

export const loopback = '127.0.0.1';

/** A port that was free a moment ago; another process may still take it, so starters retry with a new one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, loopback, resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new NightshiftError('INTERNAL', 'no port from the kernel');
  return address.port;
}

/** True when something accepts connections there. */
export function portTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: loopback, port });
    socket.setTimeout(1_000, () => socket.destroy(new Error('no answer')));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** @throws FAILED_PRECONDITION naming the port, what it is for and how to choose another. */
export async function refuseTakenPort(port: number, what: string): Promise<void> {
  if (!(await portTaken(port))) return;
  throw new NightshiftError(
    'FAILED_PRECONDITION',
    `port ${port} (${what}) is taken by another program; stop it or choose another port`,
  );
}
