import { create } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import type { CondenseCall, LadderPorts, SummaryCall } from '@nightshift/compaction';
import type { CandidateName } from '@nightshift/config';
import { llm, NightshiftError, routes } from '@nightshift/contracts';
import type { compaction } from '@nightshift/contracts';

interface CallScope {
  readonly team: string;
  readonly taskId: string;
  readonly job: compaction.Job;
  readonly signal: AbortSignal;
  readonly onDevice: CandidateName | undefined;
}

/** Model calls of a pass, through the gateway: same fallback chain, ledger and idempotency as the calls of a turn. */
@Injectable()
export class ModelCalls {
  constructor(private readonly bus: Bus) {}

  ports(scope: CallScope): Pick<LadderPorts, 'summarize' | 'condense'> {
    const { onDevice } = scope;
    return {
      summarize: (call) => this.summarize(scope, call),
      ...(onDevice ? { condense: (call: CondenseCall) => this.condense(scope, call, onDevice) } : {}),
    };
  }

  private async summarize(scope: CallScope, call: SummaryCall): ReturnType<NonNullable<LadderPorts['summarize']>> {
    const chain = call.candidates.map(({ provider, model }) => candidate(scope, { provider, model }));
    const reply = await this.bus.request(
      routes.llmComplete,
      {
        taskId: scope.taskId,
        epoch: scope.job.epoch,
        purpose: 'summary',
        chain,
        view: call.view,
        maxOutputTokens: call.maxOutputTokens,
        measuredInputTokens: call.inputTokens,
        estimatedInputTokens: call.inputTokens,
        // Tools stay in the request for the provider's prompt cache; calling one is no summary.
        toolChoice: 'none',
      },
      { team: scope.team, deadlineMs: call.timeoutMs, signal: scope.signal },
    );
    if (!reply.message) throw new NightshiftError('INTERNAL', 'the gateway answered without a message');
    return reply.message;
  }

  private async condense(scope: CallScope, call: CondenseCall, onDevice: CandidateName): Promise<string> {
    const reply = await this.bus.request(
      routes.llmComplete,
      {
        taskId: scope.taskId,
        epoch: scope.job.epoch,
        purpose: 'on_device',
        chain: [create(llm.CandidateSchema, onDevice)],
        view: call.view,
        maxOutputTokens: call.maxOutputTokens,
        toolChoice: 'none',
      },
      { team: scope.team, deadlineMs: call.timeoutMs, signal: scope.signal },
    );
    return reply.message?.blocks.map(({ kind }) => (kind.case === 'text' ? kind.value : '')).join('') ?? '';
  }
}

function candidate({ job }: CallScope, name: CandidateName): llm.Candidate {
  const isTarget = name.provider === job.targetProvider && name.model === job.targetModel;
  return create(llm.CandidateSchema, { ...name, endpoint: isTarget ? job.targetEndpoint : '' });
}
