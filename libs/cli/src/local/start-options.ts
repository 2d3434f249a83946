import { parseArgs } from 'node:util';
import { parseCandidate } from '@nightshift/config';
import { NightshiftError } from '@nightshift/contracts';
import { serviceNames, type ServiceName } from './layout';

export interface StartOptions {
  once: boolean;
  /** true: run it; false: do not; undefined: where no real model is configured and it was not run before. */
  sample: boolean | undefined;
  report: string | undefined;
  /** "provider/model" of a real model for the sample's job. */
  model: string | undefined;
  allowUnsandboxed: boolean;
  allowedRoots: string[];
  kill: ServiceName;
}

export interface Where {
  stateDir: string | undefined;
  portOffset: number;
}

const where = { 'state-dir': { type: 'string' }, 'port-offset': { type: 'string', default: '0' } } as const;

function readStart(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      ...where,
      once: { type: 'boolean', default: false },
      sample: { type: 'boolean', default: false },
      'no-sample': { type: 'boolean', default: false },
      report: { type: 'string' },
      model: { type: 'string' },
      'allow-unsandboxed': { type: 'boolean', default: false },
      'allow-root': { type: 'string', multiple: true, default: [] },
      kill: { type: 'string', default: 'provider-gateway' },
    },
  }).values;
}

/** @throws NightshiftError INVALID_ARGUMENT for anything it does not know. */
export function startOptionsOf(args: readonly string[]): StartOptions & Where {
  const values = refusing(() => readStart(args));
  if (values['no-sample'] && (values.sample || values.once || values.model)) {
    throw new NightshiftError('INVALID_ARGUMENT', '--no-sample contradicts --sample, --once and --model');
  }
  if (values.model !== undefined) parseCandidate(values.model);
  const kill = serviceNames.find((name) => name === values.kill);
  if (!kill) throw new NightshiftError('INVALID_ARGUMENT', `--kill: expected one of ${serviceNames.join(', ')}`);
  const wanted = values.once || values.sample || values.model !== undefined || values.report !== undefined;
  return {
    once: values.once,
    sample: wanted ? true : values['no-sample'] ? false : undefined,
    report: values.report,
    model: values.model,
    allowUnsandboxed: values['allow-unsandboxed'],
    allowedRoots: values['allow-root'],
    kill,
    ...whereOf(values),
  };
}

/** The options and arguments of the other commands. */
export function placeOf(args: readonly string[]): Where & { positionals: string[] } {
  const { values, positionals } = refusing(() => parseArgs({ args: [...args], options: where, allowPositionals: true }));
  return { ...whereOf(values), positionals };
}

function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    const text = `${(thrown as Error).message} (npm start -- --help lists the options)`;
    throw new NightshiftError('INVALID_ARGUMENT', text, { cause: thrown });
  }
}

function whereOf(values: { 'state-dir'?: string; 'port-offset'?: string }): Where {
  const portOffset = Number(values['port-offset'] ?? '0');
  if (!Number.isInteger(portOffset) || portOffset < 0 || portOffset > 50_000) {
    throw new NightshiftError('INVALID_ARGUMENT', '--port-offset: expected a whole number from 0 to 50000');
  }
  return { stateDir: values['state-dir'], portOffset };
}
