import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import type { Summarizer } from '@nightshift/compaction';
import { parseCandidate } from '@nightshift/config';
import { routes } from '@nightshift/contracts';
import type { compaction } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import { WindowReader } from '@nightshift/windows';

/** A registry that probes a server answers within this time, in milliseconds; longer is not waited for. */
const probeMs = 2_500;

export interface PassWindows {
  readonly target: compaction.ModelWindow;
  readonly summarizers: readonly Summarizer[];
}

/** Windows as they are now: from the local copy; the registry is asked only for a model that it does not hold. */
@Injectable()
export class Windows {
  constructor(
    private readonly bus: Bus,
    private readonly reader: WindowReader,
    private readonly logger: Logger,
  ) {}

  async of(team: string, job: compaction.Job, signal: AbortSignal): Promise<PassWindows> {
    const target = await this.get(
      team,
      { provider: job.targetProvider, endpoint: job.targetEndpoint, model: job.targetModel },
      signal,
    );
    const summarizers: Summarizer[] = [];
    for (const name of chainFrom(job)) {
      const isTarget = name.provider === job.targetProvider && name.model === job.targetModel;
      const window = isTarget ? target : await this.get(team, { ...name, endpoint: '' }, signal);
      const { inputMax, outputMax } = window;
      summarizers.push({ ...name, window: window.window, inputMax, outputMax });
    }
    return { target, summarizers };
  }

  private async get(
    team: string,
    name: { readonly provider: string; readonly endpoint: string; readonly model: string },
    signal: AbortSignal,
  ): Promise<compaction.ModelWindow> {
    const known = this.reader.get(name.provider, name.endpoint, name.model, team);
    if (!known.unknown) return known;
    try {
      const reply = await this.bus.request(routes.windowResolve, { ...name, probe: true }, { team, deadlineMs: probeMs, signal });
      return reply.window ?? known;
    } catch (error) {
      if (signal.aborted) throw error;
      // The registry being away must not stop a pass: 32 000 with its flag is shown in the report.
      this.logger.warn({ error, model: `${name.provider}/${name.model}` }, 'window could not be resolved');
      return known;
    }
  }
}

/** The chain from the candidate in use on, then those before it: on a switch they may hold what the new one cannot. */
export function chainFrom(
  job: Pick<compaction.Job, 'chain' | 'chainPosition' | 'targetProvider' | 'targetModel'>,
): { provider: string; model: string }[] {
  const target = { provider: job.targetProvider, model: job.targetModel };
  const chain = job.chain.map(parseCandidate);
  const ordered = [target, ...chain.slice(job.chainPosition), ...chain.slice(0, job.chainPosition)];
  return ordered.filter(
    (one, i) => ordered.findIndex((other) => other.provider === one.provider && other.model === one.model) === i,
  );
}
