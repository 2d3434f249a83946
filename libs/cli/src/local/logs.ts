import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';

/** One file per process below `logs/`; what a level of error or worse says is shown as well. */
export class Logs {
  private readonly files = new Map<string, number>();

  constructor(
    private readonly folder: string,
    private readonly show: (text: string) => void,
  ) {
    mkdirSync(folder, { recursive: true });
  }

  line(name: string, line: string): void {
    let file = this.files.get(name);
    if (file === undefined) this.files.set(name, (file = openSync(this.fileOf(name), 'a', 0o600)));
    writeSync(file, `${line}\n`);
    const fault = faultIn(line);
    if (fault) this.show(`${name}: ${fault}`);
  }

  fileOf(name: string): string {
    return path.join(this.folder, `${name}.log`);
  }

  close(): void {
    for (const file of this.files.values()) closeSync(file);
    this.files.clear();
  }
}

/** The message of a log line of level error or fatal. */
function faultIn(line: string): string | undefined {
  if (!line.startsWith('{') || !/"level":"(error|fatal)"/.test(line)) return undefined;
  try {
    const { msg, error } = JSON.parse(line) as { msg?: string; error?: { message?: string } };
    return [msg, error?.message].filter(Boolean).join(': ').slice(0, 300);
  } catch {
    // A line cut by a kill.
    return undefined;
  }
}
