import { findAddress } from '../client/address';
import { Api } from '../client/api';
import { standardOutput, type Output } from '../show/screen';

/** What every command works with; tests give their own. */
export interface Context {
  api(): Api;
  output: Output;
}

export const realContext: Context = {
  api: () => new Api(findAddress()),
  output: standardOutput,
};

/** Prints a value as JSON, or as text. */
export function print(context: Context, json: boolean | undefined, value: unknown, text: () => string): void {
  context.output.write(json ? `${JSON.stringify(value, null, 2)}\n` : text());
}
