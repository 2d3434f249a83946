import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Bus, systemTeam } from '@nightshift/bus';
import { NightshiftError, routes } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import { Runner } from '../runner';
import { CloseWorkspaces } from '../workspaces/close-workspaces';

/** Tells the orchestrator that this runner is there, and ends its work when nobody answers for too long. */
@Injectable()
export class Presence implements OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private watch: NodeJS.Timeout | undefined;
  private stopped = false;
  private lost = true;
  /** Whether the last announcement was answered; undefined before the first. */
  private heard: boolean | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly runner: Runner,
    private readonly logger: Logger,
    private readonly closing: CloseWorkspaces,
  ) {}

  /** To be called once this process listens: an announced runner gets work at once. */
  start(): void {
    void this.announceForEver();
    const { LEASE_LOST_AFTER_MS: lostAfter } = this.runner.config;
    this.watch = setInterval(() => this.checkLease(Date.now()), Math.min(1_000, lostAfter / 4));
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    clearInterval(this.watch);
  }

  private async announceForEver(): Promise<void> {
    const { ANNOUNCE_EVERY_MS: every } = this.runner.config;
    while (!this.stopped) {
      const answered = await this.announce();
      // Between failures shorter: each one brings the end of the lease closer.
      const pause = answered ? every : Math.min(every, 1_000);
      await new Promise((resolve) => (this.timer = setTimeout(resolve, pause)));
    }
  }

  private async announce(): Promise<boolean> {
    const { runner } = this;
    const asked = Date.now();
    const { sandboxed, reason } = runner.sandbox;
    const held = runner.workspaces.list();
    try {
      const reply = await this.bus.request(
        routes.runnerAnnounce,
        {
          runner: runner.id,
          sandboxed,
          sandboxReason: reason,
          allowedRoots: runner.config.ALLOWED_ROOTS,
          slots: runner.config.TOOL_SLOTS,
          workspaceIds: held.map(({ id }) => id),
        },
        { team: systemTeam },
      );
      runner.lease.renew(asked);
      if (this.lost || this.heard === false) this.logger.info({ runner: runner.id, sandboxed, reason }, 'announced');
      this.lost = false;
      this.heard = true;
      await this.removeClosed(held, new Set(reply.closedWorkspaceIds));
      return true;
    } catch (error) {
      // Once, not every second: the next line is the one that says that it answers.
      if (this.heard !== false)
        this.logger.warn({ error: NightshiftError.from(error) }, 'the orchestrator does not answer announcements');
      this.heard = false;
      return false;
    }
  }

  /** A workspace that cannot be removed now is named again by the next answer. */
  private async removeClosed(held: readonly { team: string; id: string }[], closed: ReadonlySet<string>): Promise<void> {
    for (const { team, id } of held) {
      if (!closed.has(id)) continue;
      try {
        await this.closing.close(team, id, false);
      } catch (error) {
        this.logger.warn({ error: NightshiftError.from(error), workspace: id }, 'a closed workspace could not be removed');
      }
    }
  }

  /** Another runner takes over 60 s after the last announcement: what runs here must be dead by then. */
  private checkLease(now: number): void {
    if (this.lost || this.runner.lease.held(now)) return;
    this.lost = true;
    const calls = this.runner.running.abort('lease').length;
    this.logger.error({ calls }, 'the lease is lost: everything that runs is ended');
    void this.runner.commands.stopAll('lease');
  }
}
