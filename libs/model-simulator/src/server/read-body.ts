import type { IncomingMessage } from 'node:http';

/** The whole body, or nothing when the client left before its end. */
export async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}
