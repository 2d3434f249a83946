import { headers, type MsgHdrs } from 'nats';
import { headerNames, NightshiftError } from '@nightshift/contracts';
import { injectTrace } from '@nightshift/metrics';

const teamForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Absolute times are larger than any budget: 10^11 ms is three years as a budget, and 1973 as a time. */
const absoluteFrom = 1e11;

/** A budget in milliseconds, or an absolute time (a `ctx.deadlineMs` passed on), to an absolute time. */
export function deadlineAt(budgetOrTime: number, now: number): number {
  return budgetOrTime >= absoluteFrom ? budgetOrTime : now + budgetOrTime;
}

export interface Outgoing {
  team: string;
  messageId?: string;
  /** Absolute. */
  deadlineAt?: number;
  keepAlive?: string;
  claimCheck?: string;
}

/** Throws INVALID_ARGUMENT unless the text can be a team: it stands in subjects and keys. */
export function checkTeam(team: string | undefined): string {
  if (team !== undefined && teamForm.test(team)) return team;
  throw new NightshiftError(
    'INVALID_ARGUMENT',
    `${headerNames.team}: expected letters, digits, _ and -, found ${JSON.stringify(team ?? null)}`,
  );
}

/** The headers of a message that leaves, trace context included. */
export function outgoingHeaders(message: Outgoing): MsgHdrs {
  const out = headers();
  out.set(headerNames.team, checkTeam(message.team));
  if (message.messageId !== undefined) out.set(headerNames.messageId, message.messageId);
  if (message.deadlineAt !== undefined) out.set(headerNames.deadline, String(Math.trunc(message.deadlineAt)));
  if (message.keepAlive !== undefined) out.set(headerNames.keepAlive, message.keepAlive);
  if (message.claimCheck !== undefined) out.set(headerNames.claimCheck, message.claimCheck);
  injectTrace((name, value) => out.set(name, value));
  return out;
}

/** A header, or undefined: the client gives an empty string for a missing one. */
export function header(carried: MsgHdrs | undefined, name: string): string | undefined {
  return carried?.get(name) || undefined;
}

export function headerRecord(carried: MsgHdrs | undefined): Record<string, string> {
  const record: Record<string, string> = {};
  if (carried) for (const [name, values] of carried) record[name] = values[0] ?? '';
  return record;
}
