import { errorCodes, NightshiftError } from '@nightshift/contracts';
import { realContext } from './commands/context';
import { programOf } from './program';

/** 2 for what the user can put right, 1 for everything else. */
function exitCodeOf(error: NightshiftError): number {
  const { http } = errorCodes[error.code];
  return http >= 400 && http < 500 ? 2 : 1;
}

programOf(realContext)
  .parseAsync()
  .catch((thrown: unknown) => {
    const error = NightshiftError.from(thrown);
    process.stderr.write(`${error.text}\n${error.faults.map((fault) => `  ${fault}\n`).join('')}`);
    process.exitCode = exitCodeOf(error);
  });
