import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const everyMs = 1_000;

/**
 * Keeps the last figures of every process that served /metrics, by service and instance. A killed process takes its
 * counters with it; what it had counted until its last scrape is kept here, as Prometheus would.
 */
export class MetricsKeeper {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly operations: Readonly<Record<string, string>>,
    private readonly folder: string,
  ) {
    mkdirSync(folder, { recursive: true });
  }

  start(): void {
    this.timer = setInterval(() => void this.scrape(), everyMs);
  }

  /** One scrape of every service, or of one; concurrent callers share the order, so that a later one is never overwritten. */
  scrape(only?: string): Promise<void> {
    this.running = this.running.then(async () => {
      const wanted = Object.entries(this.operations).filter(([name]) => only === undefined || name === only);
      await Promise.all(wanted.map(([name, url]) => this.one(name, url)));
    });
    return this.running;
  }

  /** Last scrape; the files stay for verify-report. */
  async finish(): Promise<void> {
    clearInterval(this.timer);
    await this.scrape();
  }

  private async one(service: string, url: string): Promise<void> {
    let text: string;
    try {
      const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(3_000) });
      if (!response.ok) return;
      text = await response.text();
    } catch {
      // Being restarted: its next process gets a file of its own.
      return;
    }
    const instance = /nightshift_build_info\{[^}]*instance="([^"]*)"/.exec(text)?.[1] ?? 'unknown';
    const name = `${service}.${instance.replaceAll(/[^\w-]/g, '_')}.prom`;
    writeFileSync(path.join(this.folder, name), text);
  }
}

/** The sum of all samples of a metric in an exposition text whose labels include the given ones. */
export function sumOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  let sum = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith(name)) continue;
    const match = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line);
    if (match?.[1] !== name) continue;
    const own = match[2] ?? '';
    if (Object.entries(labels).every(([key, value]) => own.includes(`${key}="${value}"`))) sum += Number(match[3]);
  }
  return sum;
}
