import { createHash } from 'node:crypto';

/** The restored text inside what the model read: the part before the closing line `[<id>, whole, … characters.…]`. */
export function restoredBytes(resultText: string, id: string): Buffer | undefined {
  const end = resultText.lastIndexOf(`\n[${id}, whole, `);
  return end < 0 ? undefined : Buffer.from(resultText.slice(0, end), 'utf8');
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The id that a call of restore_tool_result asked for; undefined for a call with other arguments. */
export function askedId(argumentsJson: string): string | undefined {
  try {
    const { id } = JSON.parse(argumentsJson) as { id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    // Arguments of a model need not be JSON.
    return undefined;
  }
}
