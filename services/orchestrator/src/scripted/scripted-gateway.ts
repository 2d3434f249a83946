import type { MessageInitShape } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { NightshiftError, llm, routes, task, transcript } from '@nightshift/contracts';

export type Reply = MessageInitShape<typeof llm.CompleteReplySchema>;
export type Script = (request: llm.CompleteRequest, number: number, signal: AbortSignal) => Reply | Promise<Reply>;

/** The provider gateway's side of the bus, with answers from the spec. It refuses a view whose calls and results do not pair up. */
@Controller()
export class ScriptedGateway {
  static script: Script = () => says('nothing to say');
  static requests: llm.CompleteRequest[] = [];
  static stops: task.StopRequest[] = [];
  private static readonly answered = new Map<string, Promise<Reply>>();
  static replayed = 0;

  static reset(script: Script): void {
    ScriptedGateway.script = script;
    ScriptedGateway.requests = [];
    ScriptedGateway.stops = [];
    ScriptedGateway.replayed = 0;
    ScriptedGateway.answered.clear();
  }

  @MessagePattern(routes.llmComplete.subject)
  complete(@Payload() request: llm.CompleteRequest, @Ctx() ctx: BusContext): Promise<Reply> {
    const key = `${request.taskId}:${request.epoch}:${request.purpose}`;
    const known = ScriptedGateway.answered.get(key);
    if (known) {
      ScriptedGateway.replayed += 1;
      return known;
    }
    if (request.view) refuseUnpaired(request.view);
    ScriptedGateway.requests.push(request);
    const number = ScriptedGateway.requests.filter(({ taskId }) => taskId === request.taskId).length;
    const reply = Promise.resolve().then(() => ScriptedGateway.script(request, number, ctx.signal));
    ScriptedGateway.answered.set(key, reply);
    reply.catch(() => ScriptedGateway.answered.delete(key));
    return reply;
  }

  @MessagePattern(routes.taskStop.subject)
  stop(@Payload() request: task.StopRequest): MessageInitShape<typeof task.StopReplySchema> {
    ScriptedGateway.stops.push(request);
    return { party: 'provider-gateway', instance: 'g1', idle: true, stopped: 1, tokensBilled: 7n };
  }
}

function refuseUnpaired(view: transcript.View): void {
  view.messages.forEach(({ body }, index) => {
    const after = view.messages[index + 1]?.body;
    const calls =
      body.case === 'assistant' ? body.value.blocks.flatMap(({ kind }) => (kind.case === 'toolCall' ? [kind.value.id] : [])) : [];
    const results = after?.case === 'toolResults' ? after.value.results.map(({ callId }) => callId) : [];
    if (calls.join() !== results.join() && (calls.length > 0 || results.length > 0)) {
      throw new NightshiftError(
        'PROVIDER_INVALID_REQUEST',
        `message ${index}: calls ${calls.join()} and results ${results.join()} do not pair up`,
      );
    }
  });
}

export interface ScriptedCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** An answer with text and calls; `input` is what the provider reports as total input. */
export function says(
  text: string,
  calls: readonly ScriptedCall[] = [],
  over: { input?: number; stop?: transcript.StopReason } = {},
): Reply {
  return {
    provider: 'sim',
    model: 'primary',
    message: {
      blocks: [
        ...(text === '' ? [] : [{ kind: { case: 'text' as const, value: text } }]),
        ...calls.map(({ name, args }, index) => ({
          kind: {
            case: 'toolCall' as const,
            value: { providerId: `toolu_${index}`, name, argumentsJson: JSON.stringify(args) },
          },
        })),
      ],
      stopReason: over.stop ?? (calls.length > 0 ? transcript.StopReason.TOOL_CALLS : transcript.StopReason.END_TURN),
    },
    usage: { inputTotal: over.input ?? 3_000, outputTotal: 50, source: transcript.UsageSource.TERMINAL },
    outputTokensSent: 4_096,
  };
}

export const call = (name: string, args: Record<string, unknown>): ScriptedCall => ({ name, args });

/** All text of a view in order, one line per message: what the model was shown. */
export function shown(view: transcript.View | undefined): string[] {
  const text = (parts: readonly transcript.Part[]): string =>
    parts.map(({ kind }) => (kind.case === 'text' ? kind.value : `<${kind.case}>`)).join('|');
  return (view ?? create(transcript.ViewSchema, {})).messages.map(({ body }) => {
    switch (body.case) {
      case 'user':
        return `user: ${text(body.value.parts)}`;
      case 'assistant':
        return `assistant: ${body.value.blocks.map(({ kind }) => (kind.case === 'toolCall' ? `${kind.value.name}()` : kind.case === 'text' ? kind.value : '')).join('|')}`;
      case 'toolResults':
        return `results: ${body.value.results.map((result) => text(result.parts)).join(' & ')}`;
      case undefined:
        return '';
    }
  });
}
