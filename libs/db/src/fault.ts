import { types } from 'node:util';
import { NightshiftError } from '@nightshift/contracts';

/** Postgres classes and socket codes that mean "the server is away or turned us off", not "the statement is wrong". */
const awayStates = new Set(['57P01', '57P02', '57P03', '53300', '08000', '08001', '08003', '08004', '08006']);
const awaySockets = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
/** Two transactions in each other's way: the same work succeeds when repeated. */
const collisionStates = new Set(['40001', '40P01']);
/** pg reports these without a code. */
const awayTexts = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
  'Cannot use a pool after calling end',
];

/**
 * Infrastructure faults become UNAVAILABLE, which is retried and counts against no delivery limit, so an absent
 * database never turns work into dead letters. Everything else (a constraint, a wrong statement) is returned as thrown.
 */
export function databaseFault(thrown: unknown): unknown {
  // Not instanceof: a socket's error comes from another realm where this runs inside a vm context (Jest).
  if (!types.isNativeError(thrown)) return thrown;
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const away = awayStates.has(code) || awaySockets.has(code) || awayTexts.some((text) => thrown.message.includes(text));
  if (!away && !collisionStates.has(code)) return thrown;
  const what = away ? 'Postgres is away' : 'Postgres rolled the transaction back';
  return new NightshiftError('UNAVAILABLE', `${what}: ${thrown.message || code}`, { cause: thrown });
}

/** True for a unique violation (23505), of the given constraint when one is named. */
export function isUniqueViolation(thrown: unknown, constraint?: string): boolean {
  if (!types.isNativeError(thrown) || !('code' in thrown) || thrown.code !== '23505') return false;
  return constraint === undefined || ('constraint' in thrown && thrown.constraint === constraint);
}
