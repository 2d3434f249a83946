import { Injectable } from '@nestjs/common';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { task } from '@nightshift/contracts';
import { Runner } from '../runner';

/** The answer must be there within the second that the sender waits. */
const waitMs = 800;

/** Ends everything that runs here for a task and says what was proved. */
@Injectable()
export class StopTask {
  constructor(private readonly runner: Runner) {}

  async stop(team: string, taskId: string, now: number): Promise<MessageInitShape<typeof task.StopReplySchema>> {
    const { running, commands, stopped, seen } = this.runner;
    // Remembered first: a call that is claimed right now must find it.
    const receipt = stopped.add(team, taskId, now);
    const calls = running.abort('cancelled', team, taskId);
    receipt.stopped += calls.length;
    const ended = commands.stopTask(team, taskId, 'cancelled').then((result) => {
      receipt.stopped += result.background;
      receipt.processesEnded += result.processes;
    });
    const idle = await within(Promise.allSettled([ended, ...calls.map((call) => call.done)]), waitMs);
    if (idle) seen.forget(team, taskId);
    return {
      party: 'tool-runner',
      instance: this.runner.id,
      idle,
      stopped: receipt.stopped,
      processesEnded: receipt.processesEnded,
    };
  }
}

async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  const done = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return done;
}
