/** int64 milliseconds of the wire to a number; exact until the year 287396. */
export function toMs(wire: bigint): number {
  return Number(wire);
}

/** Milliseconds to the int64 of the wire. */
export function fromMs(ms: number): bigint {
  return BigInt(Math.trunc(ms));
}
