/**
 * A duration of the rules, in seconds, divided by `divisor`. The live test runs the same generated rules with every
 * window divided by 60, so that an alert that needs an hour fires within a minute.
 */
export function scaled(seconds: number, divisor: number): string {
  const value = Math.max(1, Math.round(seconds / divisor));
  if (value % 86_400 === 0) return `${value / 86_400}d`;
  if (value % 3_600 === 0) return `${value / 3_600}h`;
  if (value % 60 === 0) return `${value / 60}m`;
  return `${value}s`;
}
