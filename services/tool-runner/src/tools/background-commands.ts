import { describeEnd, type Background } from '../sandbox/commands';
import { answer } from './answer';
import type { PlanTool, ToolContext } from './tool';

/** Milliseconds between looks at a command that is waited for. */
const pollMs = 100;

export const commandOutput: PlanTool<'command_output'> = async (args, context) => ({
  perform: async () => {
    const found = context.commands.find(args.handle, context);
    await waitForNews(found, (args.wait_seconds ?? 0) * 1000, context.signal);
    return answer(await news(found, context));
  },
});

export const stopCommand: PlanTool<'stop_command'> = async (args, context) => ({
  perform: async () => {
    const found = context.commands.find(args.handle, context);
    found.command.stop('stopped', 500);
    const end = await found.command.ended;
    return answer(await news(found, context), { processesEnded: end.processesEnded });
  },
});

async function waitForNews(found: Background, waitMs: number, signal: AbortSignal): Promise<void> {
  const until = performance.now() + waitMs;
  while (found.command.isRunning && found.command.output.position === found.position && performance.now() < until) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** What was written since the last answer, and how the command stands. */
async function news(found: Background, context: ToolContext): Promise<string> {
  const { command } = found;
  const text = command.output.since(found.position);
  found.position = command.output.position;
  const state = command.isRunning ? `[${found.handle} is running]` : describeEnd(await command.ended, context.limits);
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${state}`;
}
