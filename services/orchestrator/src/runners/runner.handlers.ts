import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { Bus } from '@nightshift/bus';
import { routes, tool } from '@nightshift/contracts';
import { RunnerStore, runnerLeaseMs } from './runner.store';

/** How long the workspace of an ended task is kept, in ms: its diff can be looked at for a week. */
const keepWorkspaceMs = 7 * 24 * 3_600_000;

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
    // The queue first: a runner that is in the table can be given work at once.
    if (!this.opened.has(runner.runner)) await this.bus.openKeyed(routes.toolRun, runner.runner);
    this.opened.add(runner.runner);
    await this.runners.announce({
      id: runner.runner,
      sandboxed: runner.sandboxed,
      sandboxReason: runner.sandboxReason,
      allowedRoots: runner.allowedRoots,
      slots: runner.slots,
    });
    const closed = await this.runners.closed(runner.runner, runner.workspaceIds, keepWorkspaceMs);
    return { leaseMs: runnerLeaseMs, closedWorkspaceIds: [...closed] };
  }
}
