import path from 'node:path';
import type { Environment } from '@nightshift/config';
import { errorCodes, NightshiftError } from '@nightshift/contracts';
import { projectRoot } from '../client/address';
import { verifyReport } from '../sample/verify';
import { start } from './start';
import { placeOf, startOptionsOf } from './start-options';
import { reset, status, stop } from './stop';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** What the scripts of package.json run: `start`, `stop`, `status`, `reset`, `verify-report`. Ends the process. */
export async function main(args: readonly string[], env: Environment): Promise<void> {
  try {
    process.exitCode = await run(args, env);
  } catch (thrown) {
    const error = NightshiftError.from(thrown);
    process.stderr.write(`\n${error.text}\n${error.faults.map((fault) => `  ${fault}\n`).join('')}`);
    if (error.code === 'INTERNAL' && error.cause instanceof Error) process.stderr.write(`${error.cause.stack}\n`);
    process.exitCode = errorCodes[error.code].http < 500 ? 2 : 1;
  }
  // Kept-alive connections to services that are gone must not hold the terminal.
  process.exit();
}

async function run([command, ...args]: readonly string[], env: Environment): Promise<number> {
  if (command === 'start') return start(startOptionsOf(args), projectRoot, env);
  const { stateDir = path.join(projectRoot, '.nightshift'), positionals } = placeOf(args);
  switch (command) {
    case 'stop':
      await stop(stateDir, say);
      return 0;
    case 'status':
      return status(stateDir, say);
    case 'reset':
      await reset(stateDir, say);
      return 0;
    case 'verify-report':
      return verifyReport(positionals[0], stateDir, env.DATABASE_URL || undefined, say);
    default:
      throw new NightshiftError('INVALID_ARGUMENT', `no command ${String(command)}`);
  }
}
