/** Of tests that use real servers. Set here, since Jest takes no time-out per project. */
export const realServerTimeoutMs = 60_000;
