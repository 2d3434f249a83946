import { findAddress, findGateway } from '../client/address';
import { Api } from '../client/api';
import { standardOutput, type Output } from '../show/screen';

/** What every command works with; tests give their own. */
export interface Context {
  api(): Api;
  /** Address of the provider gateway, for a command that asks a model by itself. */
  gateway(): string;
  output: Output;
  /** Beside the output, on stderr: programs read the output alone. */
  warn(line: string): void;
}

export const realContext: Context = {
  api: () => new Api(findAddress()),
  gateway: () => findGateway(),
  output: standardOutput,
  warn: (line) => void process.stderr.write(`${line}\n`),
};

/** Prints a value as JSON, or as text. */
export function print(context: Context, json: boolean | undefined, value: unknown, text: () => string): void {
  context.output.write(json ? `${JSON.stringify(value, null, 2)}\n` : text());
}
