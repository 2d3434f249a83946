import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { Bus } from '@nightshift/bus';
import { NightshiftError, routes, tool } from '@nightshift/contracts';
import { isUuid } from '../outcomes/calls';
import { cleanText, storableInt } from '../tasks/storable';
import { RunnerStore, runnerLeaseMs } from './runner.store';

/** How long the workspace of an ended task is kept, in ms: its diff can be looked at for a week. */
const keepWorkspaceMs = 7 * 24 * 3_600_000;

/** The id names a queue, so it must be a token of a subject. */
const runnerId = /^[\w-]{1,64}$/;

@Controller()
export class RunnerHandlers {
  /** Queues this process has made sure of. */
  private readonly opened = new Set<string>();

  constructor(
    private readonly bus: Bus,
    private readonly runners: RunnerStore,
  ) {}

  @MessagePattern(routes.runnerAnnounce.subject)
  async announce(@Payload() runner: tool.AnnounceRequest): Promise<MessageInitShape<typeof tool.AnnounceReplySchema>> {
    if (!runnerId.test(runner.runner)) {
      throw new NightshiftError('INVALID_ARGUMENT', 'the runner is not announced', {
        faults: ['runner: expected at most 64 letters, digits, _ and -'],
      });
    }
    // The queue first: a runner that is in the table can be given work at once.
    if (!this.opened.has(runner.runner)) await this.bus.openKeyed(routes.toolRun, runner.runner);
    this.opened.add(runner.runner);
    await this.runners.announce({
      id: runner.runner,
      sandboxed: runner.sandboxed,
      sandboxReason: cleanText(runner.sandboxReason),
      allowedRoots: runner.allowedRoots.map(cleanText),
      slots: storableInt(runner.slots),
    });
    const closed = await this.runners.closed(runner.runner, runner.workspaceIds.filter(isUuid), keepWorkspaceMs);
    return { leaseMs: runnerLeaseMs, closedWorkspaceIds: [...closed] };
  }
}
