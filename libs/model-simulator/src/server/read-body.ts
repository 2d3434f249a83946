import type { IncomingMessage } from 'node:http';

/** The whole body, or nothing when the client left before its end. */
export async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  // Events, since the async iterator of a request costs more than all the rest of a small one.
  const complete = await new Promise<boolean>((resolve) => {
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => resolve(true));
    incoming.once('close', () => resolve(false));
    incoming.once('error', () => resolve(false));
  });
  if (!complete) return undefined;
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}
