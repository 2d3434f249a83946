import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ServiceName } from '@nightshift/contracts';
import { eventually, type RunningStack } from '@nightshift/testing';
import type { Kind } from './crash-load';

/** What makes a process pass a point that work alone does not reach soon enough. */
export type Trigger = 'work' | 'compact' | 'message' | 'pause' | 'cancel';
export interface CrashPoint {
  readonly service: ServiceName;
  /** Named in the service's code; without one the process is killed wherever it is. */
  readonly name?: string;
  readonly trigger: Trigger;
  /** Tasks of this kind are made to pass it; any suited ones where none is named. */
  readonly kind?: Kind;
}

const point = (service: ServiceName, name?: string, trigger: Trigger = 'work', kind?: Kind): CrashPoint => ({
  service,
  name,
  trigger,
  kind,
});

/** Every named window of every service, in turn between the services, so that each has run for a while before it dies again. */
export const crashPoints: readonly CrashPoint[] = [
  point('orchestrator', 'orchestrator.leased', 'pause'),
  point('provider-gateway', 'gateway-inside-call'),
  point('tool-runner', 'tool-running'),
  point('compactor', 'compactor.claimed', 'compact'),
  point('orchestrator', 'orchestrator.model_call'),
  point('api'),
  point('compactor', 'compactor.summary', 'compact'),
  point('orchestrator', 'orchestrator.answered'),
  point('tool-runner', 'tool-performed'),
  point('compactor', 'compactor.micro', 'compact', 'refused'),
  point('orchestrator', 'orchestrator.recorded'),
  point('provider-gateway', 'gateway-before-answer-stored'),
  point('compactor', 'compactor.storing', 'compact'),
  point('orchestrator', 'orchestrator.call_closed'),
  point('model-registry'),
  point('compactor', 'compactor.images', 'compact', 'wordy'),
  point('compactor', 'compactor.before_finished', 'compact'),
  point('orchestrator', 'orchestrator.pass_ended', 'compact'),
  point('tool-runner', 'tool-result-journaled'),
  point('compactor', 'compactor.on_device', 'compact', 'wordy'),
  point('orchestrator', 'orchestrator.delivering', 'message'),
  point('compactor', 'compactor.finished', 'compact'),
  point('tool-result-store'),
  point('compactor', 'compactor.prune', 'compact', 'wordy'),
  point('orchestrator', 'orchestrator.stopped', 'cancel'),
];

/** Arms crash points in running processes, one at a time. */
export class CrashPlan {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'nightshift-crash-plan-'));
  private readonly file = path.join(this.folder, 'plan');

  environment(): Record<string, string> {
    return { CRASH_PLAN: this.file };
  }

  /** Until the process has died there, runs again and is ready. @returns seconds from arming to ready */
  async fire(stack: RunningStack, { service, name }: CrashPoint, trigger: () => Promise<void>): Promise<number> {
    const armedAt = performance.now();
    const supervised = stack.service(service);
    const restarts = supervised.restarts();
    if (name === undefined) supervised.signal('SIGKILL');
    else {
      this.arm(name);
      let again = 0;
      await eventually(
        async () => {
          if (this.fired()) return true;
          if (performance.now() < again) return false;
          again = performance.now() + retriggerMs;
          await trigger();
          return false;
        },
        { timeoutMs: passedWithinMs, everyMs: 50 },
      ).catch(() => {
        throw new Error(`no process passed ${name} within ${passedWithinMs / 1000} s`);
      });
    }
    await eventually(() => supervised.restarts() > restarts, { timeoutMs: 30_000 });
    await stack.ready([service]);
    return (performance.now() - armedAt) / 1000;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private arm(name: string): void {
    rmSync(`${this.file}.fired`, { force: true });
    writeFileSync(`${this.file}.new`, name);
    renameSync(`${this.file}.new`, this.file);
  }

  private fired(): boolean {
    return existsSync(`${this.file}.fired`);
  }
}

const retriggerMs = 4_000;
const passedWithinMs = 60_000;
