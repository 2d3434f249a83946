import { isObservable, lastValueFrom } from 'rxjs';
import type { BusContext } from '../context';

/** A Nest handler as the transport gets it. */
export type Handler = (message: unknown, context: BusContext) => unknown;

/** Nest hands back a promise of a value or of an observable; an error comes out of either. */
export async function invoke(handler: Handler, message: unknown, context: BusContext): Promise<unknown> {
  const result: unknown = await handler(message, context);
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}
