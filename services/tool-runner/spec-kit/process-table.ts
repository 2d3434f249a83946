import { readdirSync, readFileSync } from 'node:fs';

/** Command lines of the host's processes that hold `text`, with spaces between the words. */
export function commandLines(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
      } catch {
        return ''; // ended meanwhile
      }
    })
    .filter((line) => line.includes(text));
}
