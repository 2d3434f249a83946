import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { Bus, BusContext } from '@nightshift/bus';
import { routes, task, tool, transcript } from '@nightshift/contracts';

export interface RanCall {
  readonly tool: string;
  readonly args: unknown;
  readonly claim: tool.ClaimReply;
}
type Perform = (call: RanCall, taskId: string) => string | Promise<string>;

/** The tool runner's side of the bus: claims each call, answers with what the spec says, publishes the result. */
@Controller()
export class ScriptedRunner {
  static perform: Perform = () => 'done';
  static ran: RanCall[] = [];
  static refused: string[] = [];
  private static readonly claimed = new Set<string>();
  static files: Record<string, string> = {};
  static changes: MessageInitShape<typeof tool.FileChangeSchema>[] = [];

  constructor(private readonly bus: Bus) {}

  static reset(perform: Perform): void {
    ScriptedRunner.perform = perform;
    ScriptedRunner.ran = [];
    ScriptedRunner.refused = [];
    ScriptedRunner.files = {};
    ScriptedRunner.changes = [];
  }

  @EventPattern(routes.toolRun.subject)
  async run(@Payload() run: tool.Run, @Ctx() ctx: BusContext): Promise<void> {
    const claim = await this.bus.request(
      routes.toolClaim,
      { taskId: run.taskId, callId: run.callId, runner: 'r1', delivery: ctx.delivery },
      { team: ctx.team },
    );
    if (!claim.granted) {
      ScriptedRunner.refused.push(claim.reason);
      return;
    }
    // As the real runner's journal does: a second publishing of a call that runs here attaches to it.
    if (ScriptedRunner.claimed.has(run.callId)) return;
    ScriptedRunner.claimed.add(run.callId);
    const call = { tool: claim.tool, args: JSON.parse(claim.argumentsJson) as unknown, claim };
    ScriptedRunner.ran.push(call);
    const text = await ScriptedRunner.perform(call, run.taskId);
    const path = (call.args as { path?: string }).path;
    const changes = call.tool === 'write_file' && path ? [{ path, afterSha256: `h-${path}`, kind: 'created' }] : [];
    await this.bus.command(
      routes.toolFinished,
      {
        taskId: run.taskId,
        callId: run.callId,
        runner: 'r1',
        ms: 1,
        changes,
        result: { parts: [{ kind: { case: 'text', value: text } }], outcome: transcript.ToolOutcome.FINISHED },
      },
      { team: ctx.team, messageId: `${run.callId}:finished` },
    );
  }

  @MessagePattern(routes.workspaceOpen.subject)
  open(): MessageInitShape<typeof tool.WorkspaceOpenReplySchema> {
    return { path: '/work/space', sandboxed: true, rules: 'Use tabs.', mode: 'copy', baseCommit: 'abc' };
  }

  @MessagePattern(routes.workspaceRead.subject)
  read(@Payload() request: tool.WorkspaceReadRequest): MessageInitShape<typeof tool.WorkspaceReadReplySchema> {
    return {
      files: request.paths.map((path) => ({
        path,
        content: ScriptedRunner.files[path] ?? '',
        unreadable: !(path in ScriptedRunner.files),
      })),
    };
  }

  @MessagePattern(routes.taskStop.subject)
  stop(): MessageInitShape<typeof task.StopReplySchema> {
    return { party: 'tool-runner', instance: 'r1', idle: true, processesEnded: 1 };
  }
}
