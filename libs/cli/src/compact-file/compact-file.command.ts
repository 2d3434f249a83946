import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { closeTokenThread } from '@nightshift/compaction';
import { parseCandidate, type CandidateName } from '@nightshift/config';
import { NightshiftError } from '@nightshift/contracts';
import { print, type Context } from '../commands/context';
import { importSession } from '../sessions/import-session';
import { SessionFault } from '../sessions/session';
import { extractiveSummary } from './extractive';
import { gatewaySummaries } from './gateway-summary';
import { replay, type ReplayOptions } from './replay';
import { replayJson, replayRemarks, replayText, viewJson } from './report';

interface FileOptions {
  window: number;
  maxOutput: number;
  summary: 'none' | 'extractive' | CandidateName;
  out?: string;
  json?: boolean;
}

const tokens = (text: string): number => {
  const value = Number(text.replaceAll(/[ _]/g, ''));
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError(`expected a number of tokens, got "${text}"`);
  return value;
};
const summary = (text: string): FileOptions['summary'] => {
  if (text === 'none' || text === 'extractive') return text;
  try {
    return parseCandidate(text);
  } catch (thrown) {
    if (!(thrown instanceof NightshiftError)) throw thrown;
    throw new InvalidArgumentError(`expected none, extractive or provider/model, got "${text}"`);
  }
};

/** Options of the dry run, on the same command that compacts a task of the platform. */
export function withFileOptions(command: Command): Command {
  return command
    .option('--window <tokens>', 'dry run of a file: context window', tokens, 200_000)
    .option('--max-output <tokens>', 'dry run of a file: configured output', tokens, 0)
    .option('--summary <none|extractive|provider/model>', 'dry run of a file: who writes summaries', summary, 'extractive')
    .option('--out <file>', 'dry run of a file: write the resulting view as JSON');
}

/** Whether the argument names a session file rather than a task: ids have neither dots nor slashes, so a mistyped file does. */
export const namesFile = (argument: string): boolean => existsSync(argument) || /[./\\]/.test(argument);

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    throw new SessionFault(file, undefined, `expected a file that can be read (${code ?? String(thrown)})`);
  }
}

/** `nightshift compact FILE`: what compaction would do to a session of another agent. Changes nothing. */
export async function compactFile(context: Context, file: string, options: FileOptions): Promise<void> {
  try {
    const session = importSession(file, read(file));
    const model = typeof options.summary === 'object' ? options.summary : undefined;
    const gateway = model ? await gatewaySummaries(context.gateway(), model) : undefined;
    const progress = options.json ? undefined : progressBar(session.entries.length);
    const settings: ReplayOptions = {
      window: options.window,
      maxOutput: options.maxOutput,
      clock: () => performance.now(),
      ...(options.summary === 'extractive' ? { summarize: extractiveSummary } : {}),
      ...(model && gateway ? { summarize: gateway.summarize, summarizer: model } : {}),
      ...(progress ? { onProgress: progress } : {}),
    };
    const run = await replay(session, settings);
    const fault = gateway?.fault();
    if (fault) throw fault;
    for (const remark of replayRemarks(session, run)) context.warn(remark);
    if (options.out) writeFileSync(options.out, viewJson(run.view));
    print(context, options.json, replayJson(session, settings, run), () => replayText(session, settings, run));
  } catch (error) {
    if (!(error instanceof SessionFault)) throw error;
    context.warn(error.message);
    process.exitCode = 2;
  } finally {
    await closeTokenThread();
  }
}

/** On a terminal and for long files only; a pipe gets the report alone. */
function progressBar(messages: number): ((done: number, of: number) => void) | undefined {
  if (!process.stderr.isTTY || messages < 100) return undefined;
  const width = 30;
  return (done, of) => {
    if (done < of && done % 10 !== 0) return;
    const filled = Math.round((done / of) * width);
    process.stderr.write(`\r[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${done}/${of}${done === of ? '\n' : ''}`);
  };
}
