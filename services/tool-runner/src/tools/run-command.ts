import { join } from 'node:path';
import { isNightshiftError, NightshiftError, transcript } from '@nightshift/contracts';
import { findBeneath } from '../files/beneath';
import { describeEnd } from '../sandbox/commands';
import type { CommandEnd, EndReason } from '../sandbox/command';
import { answer } from './answer';
import type { Answer, PlanTool, ToolContext } from './tool';

/** Milliseconds a command may take when the call does not say; a background command gets the longest. */
const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 3_600_000;

export const runCommand: PlanTool<'run_command'> = async (args, context) => {
  const asked = {
    owner: context,
    workspace: context.workspace,
    command: args.command,
    directory: startDirectory(args.directory, context),
    limits: { ...context.limits, timeoutMs: timeoutOf(args.timeout_seconds, args.background ?? false, context) },
    policy: context.policy,
  };
  if (args.background) {
    return {
      perform: async () => {
        context.signal.throwIfAborted();
        const { handle, command } = await context.commands.startBackground(asked);
        // A stop may have come while the command was being started.
        if (context.signal.aborted) command.stop(endReason(context.signal.reason));
        return answer(`Started in the background as ${handle}. command_output shows what it writes, stop_command ends it.`);
      },
    };
  }
  return {
    perform: async () => {
      context.signal.throwIfAborted();
      const command = await context.commands.start(asked, (text) => context.onText(text));
      const stop = (): void => command.stop(endReason(context.signal.reason));
      context.signal.addEventListener('abort', stop, { once: true });
      if (context.signal.aborted) stop();
      try {
        const end = await command.ended;
        return commandAnswer(command.output.text(), end, describeEnd(end, asked.limits), command.sandboxFault);
      } finally {
        context.signal.removeEventListener('abort', stop);
      }
    },
  };
};

function commandAnswer(output: string, end: CommandEnd, ending: string, sandboxFault: string): Answer {
  const text = `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${sandboxFault ? `[sandbox: ${sandboxFault}]\n` : ''}${ending}`;
  return answer(text, {
    isError: end.reason !== undefined || end.exitCode !== 0,
    outcome: outcomeOf(end.reason),
    processesEnded: end.processesEnded,
  });
}

/** A command killed for the runner's own reasons may have done its work or half of it. */
function outcomeOf(reason: EndReason | undefined): transcript.ToolOutcome {
  if (reason === 'cancelled') return transcript.ToolOutcome.CANCELLED;
  if (reason === 'lease' || reason === 'shutdown') return transcript.ToolOutcome.UNKNOWN;
  return transcript.ToolOutcome.FINISHED;
}

/** Why a call was aborted; see `abortReason`. */
function endReason(reason: unknown): EndReason {
  const end = isNightshiftError(reason) ? reason.details.end : undefined;
  return end === 'lease' || end === 'shutdown' ? end : 'cancelled';
}

function timeoutOf(seconds: number | undefined, background: boolean, context: ToolContext): number {
  const most = Math.min(context.limits.timeoutMs || maxTimeoutMs, maxTimeoutMs);
  if (background) return seconds === undefined ? maxTimeoutMs : seconds * 1000;
  return Math.min(seconds === undefined ? defaultTimeoutMs : seconds * 1000, most);
}

function startDirectory(directory: string | undefined, context: ToolContext): string {
  const root = context.workspace.record.path;
  if (directory === undefined) return root;
  const place = findBeneath(root, directory);
  try {
    if (!place.stats?.isDirectory())
      throw new NightshiftError('INVALID_ARGUMENT', `${directory} is not a directory of the workspace`);
    return join(root, place.path);
  } finally {
    place.close();
  }
}
