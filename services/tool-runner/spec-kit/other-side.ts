import { Controller, Module } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { createHash } from 'node:crypto';
import { BusContext, startService, type RunningService } from '@nightshift/bus';
import { loadConfig, serviceSettings } from '@nightshift/config';
import { NightshiftError, routes, tool, toolresult } from '@nightshift/contracts';
import { eventually } from '@nightshift/testing';

export const team = 'team-a';

type Claim = MessageInitShape<typeof tool.ClaimReplySchema>;

/** Plays the orchestrator and the tool-result store on the real bus: claims are answered from a script, reports are kept. */
export class OtherSide {
  readonly finished: tool.Finished[] = [];
  readonly announced: tool.AnnounceRequest[] = [];
  readonly puts = new Map<string, toolresult.PutRequest>();
  readonly claims = new Map<string, Claim>();
  readonly claimed: tool.ClaimRequest[] = [];
  closedWorkspaces: string[] = [];
  answersAnnouncements = true;
  /** Faults that the next puts answer with. */
  putFaults = 0;
  private orchestrator: RunningService | undefined;
  private store: RunningService | undefined;
  private calls = 0;

  constructor(readonly runner: string) {}

  get bus(): RunningService['bus'] {
    if (!this.orchestrator) throw new Error('the other side is not started');
    return this.orchestrator.bus;
  }

  async start(natsUrl: string, ackWaitMs = 1_000): Promise<void> {
    const config = loadConfig(serviceSettings, { NATS_URL: natsUrl, LOG_LEVEL: 'silent', ACK_WAIT_MS: String(ackWaitMs) });
    this.orchestrator = await startService({ service: 'orchestrator', module: orchestratorSide(this), config, partial: true });
    this.store = await startService({ service: 'tool-result-store', module: storeSide(this), config, partial: true });
    await this.bus.openKeyed(routes.toolRun, this.runner);
  }

  async stop(): Promise<void> {
    await this.orchestrator?.stop();
    await this.store?.stop();
  }

  async open(
    workspaceId: string,
    from: MessageInitShape<typeof tool.WorkspaceOpenRequestSchema>,
  ): Promise<tool.WorkspaceOpenReply> {
    return this.bus.request(routes.workspaceOpen, { workspaceId, taskId: 'task-1', ...from }, { team, key: this.runner });
  }

  /** Queues a call and gives its id. */
  async send(name: string, args: unknown, claim: Claim = {}, taskId = 'task-1'): Promise<string> {
    const callId = `call-${++this.calls}-${Date.now()}`;
    await this.sendAs(callId, name, args, claim, taskId);
    return callId;
  }

  async sendAs(
    callId: string,
    name: string,
    args: unknown,
    claim: Claim = {},
    taskId = 'task-1',
    messageId = callId,
  ): Promise<void> {
    this.claims.set(callId, {
      granted: true,
      reason: 'granted',
      tool: name,
      argumentsJson: typeof args === 'string' ? args : JSON.stringify(args),
      workspaceId: 'ws-1',
      timeoutMs: 60_000,
      spillChars: 20_000,
      readChars: 20_000,
      generation: 1,
      rootId: taskId,
      ...claim,
    });
    await this.bus.command(
      routes.toolRun,
      { taskId, callId, workspaceId: 'ws-1', tool: name, epoch: 1 },
      { team, key: this.runner, messageId },
    );
  }

  /** The first report of a call. */
  async reportOf(callId: string, timeoutMs = 20_000): Promise<tool.Finished> {
    return eventually(
      () => {
        const found = this.finished.find((finished) => finished.callId === callId);
        if (!found) throw new Error(`no report of ${callId}`);
        return found;
      },
      { timeoutMs },
    );
  }

  async call(name: string, args: unknown, claim: Claim = {}, taskId = 'task-1'): Promise<tool.Finished> {
    return this.reportOf(await this.send(name, args, claim, taskId));
  }
}

/** All text of a report. */
export function textOf(finished: tool.Finished): string {
  return (finished.result?.parts ?? [])
    .map((part) => (part.kind.case === 'text' ? part.kind.value : `<${part.kind.case}>`))
    .join('\n');
}

function orchestratorSide(side: OtherSide) {
  @Controller()
  class Orchestrator {
    @MessagePattern(routes.toolClaim.subject)
    async claim(@Payload() request: tool.ClaimRequest): Promise<Claim> {
      side.claimed.push(request);
      return side.claims.get(request.callId) ?? { granted: false, reason: 'closed' };
    }

    @MessagePattern(routes.runnerAnnounce.subject)
    async announce(@Payload() request: tool.AnnounceRequest): Promise<MessageInitShape<typeof tool.AnnounceReplySchema>> {
      if (!side.answersAnnouncements) throw new NightshiftError('UNAVAILABLE', 'not now');
      side.announced.push(request);
      return { leaseMs: 60_000, closedWorkspaceIds: side.closedWorkspaces };
    }

    @EventPattern(routes.toolFinished.subject)
    async finished(@Payload() message: tool.Finished): Promise<void> {
      side.finished.push(message);
    }
  }
  @Module({ controllers: [Orchestrator] })
  class OrchestratorSide {}
  return OrchestratorSide;
}

function storeSide(side: OtherSide) {
  @Controller()
  class Store {
    @MessagePattern(routes.toolresultPut.subject)
    async put(
      @Payload() request: toolresult.PutRequest,
      @Ctx() _context: BusContext,
    ): Promise<MessageInitShape<typeof toolresult.PutReplySchema>> {
      if (side.putFaults > 0) {
        side.putFaults--;
        throw new NightshiftError('UNAVAILABLE', 'the store is away');
      }
      const sha256 = createHash('sha256').update(request.content).digest('hex');
      const id = `res_${sha256.slice(0, 12)}`;
      side.puts.set(id, create(toolresult.PutRequestSchema, request));
      return { id, sha256, bytes: request.content.length };
    }
  }
  @Module({ controllers: [Store] })
  class StoreSide {}
  return StoreSide;
}
