/** This process as the holder of leases. */
export interface Worker {
  /** Unique per start of a process: a restarted one must not inherit leases that it knows nothing of. */
  readonly owner: string;
  /** How long a lease lasts without a heartbeat, in ms by the database clock. */
  readonly leaseMs: number;
  /** Tasks this process works on at once. */
  readonly stepSlots: number;
  /** When the last heartbeat was written, by the clock of this process. */
  beatenAt: number;
}

/** Injection token of the process's Worker. */
export const WORKER = Symbol('WORKER');

/** Readiness: a process that cannot renew its leases must not take new ones. Undefined = fine. */
export function heartbeatFault(worker: Worker, now: number): string | undefined {
  const silent = now - worker.beatenAt;
  return silent > worker.leaseMs ? `the heartbeat of this process is ${silent} ms old` : undefined;
}
