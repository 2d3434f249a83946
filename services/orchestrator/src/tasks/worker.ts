/** This process as the holder of leases. */
export interface Worker {
  /** Unique per start of a process: a restarted one must not inherit leases that it knows nothing of. */
  readonly owner: string;
  /** How long a lease lasts without a heartbeat, in ms by the database clock. */
  readonly leaseMs: number;
}

/** Injection token of the process's Worker. */
export const WORKER = Symbol('WORKER');
