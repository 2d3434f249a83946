import { TransportFault, type TransportFaultKind } from './fault';

/** The five clocks of one attempt, in milliseconds. */
export interface ClockLimits {
  /** TCP and TLS until the socket is usable. */
  connect: number;
  /** From the usable socket to the response headers. */
  headers: number;
  /** From the headers to the first piece of content; keep-alive comments and pings do not count. */
  firstContent: number;
  /** Between two pieces of data after the first content; pings count, since the server is alive. */
  idle: number;
  /** The whole attempt. */
  total: number;
}

/** A slow reasoning model may take minutes to its first token, but rarely pauses long once it writes. */
export const defaultClocks: ClockLimits = {
  connect: 5_000,
  headers: 120_000,
  firstContent: 180_000,
  idle: 25_000,
  total: 900_000,
};

type Phase = 'connect' | 'headers' | 'firstContent' | 'idle';
const faultOfPhase: Record<Phase, TransportFaultKind> = {
  connect: 'connect_timeout',
  headers: 'headers_timeout',
  firstContent: 'first_content_timeout',
  idle: 'idle_timeout',
};

/**
 * One timer per attempt, not one per chunk: it fires at the earliest moment the current phase could be over and looks
 * how long ago the last data came.
 */
export class AttemptClocks {
  private phase: Phase = 'connect';
  private since = performance.now();
  private readonly startedAt = this.since;
  private timer: NodeJS.Timeout | undefined;
  private firesAt = 0;
  private stopped = false;

  constructor(
    private readonly limits: ClockLimits,
    private readonly onExpire: (fault: TransportFault) => void,
  ) {
    this.arm();
  }

  enter(phase: Phase): void {
    this.phase = phase;
    this.since = performance.now();
    // A timer that fires too early looks and arms itself again; only one that would fire too late has to move.
    if (this.since + this.limits[phase] < this.firesAt) this.arm();
  }

  /** Data arrived; in the idle phase that is what the clock waits for. */
  data(): void {
    if (this.phase === 'idle') this.since = performance.now();
  }

  get showsContent(): boolean {
    return this.phase === 'idle';
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private arm(): void {
    if (this.stopped) return;
    clearTimeout(this.timer);
    this.firesAt = Math.min(this.since + this.limits[this.phase], this.startedAt + this.limits.total);
    this.timer = setTimeout(() => this.look(), Math.max(1, Math.ceil(this.firesAt - performance.now())));
  }

  private look(): void {
    const now = performance.now();
    if (now - this.startedAt >= this.limits.total) {
      this.onExpire(new TransportFault('total_timeout', `no complete answer within ${this.limits.total} ms`));
    } else if (now - this.since >= this.limits[this.phase]) {
      const kind = faultOfPhase[this.phase];
      this.onExpire(
        new TransportFault(kind, `${kind.replace('_timeout', '').replace('_', ' ')}: nothing for ${this.limits[this.phase]} ms`),
      );
    } else {
      this.arm();
    }
  }
}
