/** How long a stop is remembered, in milliseconds: a call may still be under way when its stop has come. */
const rememberMs = 60_000;

export interface Receipt {
  /** Calls and background commands that the stops of this task have ended. */
  stopped: number;
  processesEnded: number;
}

/** Tasks that were told to stop. The receipt adds up, so that a repeated stop answers the same as the first. */
export class StoppedTasks {
  private readonly tasks = new Map<string, { until: number; receipt: Receipt }>();

  /** Remembers a stop and gives the receipt to add to. */
  add(team: string, taskId: string, now: number): Receipt {
    for (const [key, { until }] of this.tasks) if (until <= now) this.tasks.delete(key);
    const key = `${team}/${taskId}`;
    const entry = this.tasks.get(key) ?? { until: 0, receipt: { stopped: 0, processesEnded: 0 } };
    entry.until = now + rememberMs;
    this.tasks.set(key, entry);
    return entry.receipt;
  }

  has(team: string, taskId: string, now: number): boolean {
    return (this.tasks.get(`${team}/${taskId}`)?.until ?? 0) > now;
  }
}
