import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { llm, routes } from '@nightshift/contracts';

type Reply = MessageInitShape<typeof llm.CompleteReplySchema>;
export type Script = (request: llm.CompleteRequest, signal: AbortSignal) => Promise<Reply> | Reply;

/** The gateway's side: answers come from the spec. */
@Controller()
export class ScriptedGateway {
  static script: Script;
  static requests: llm.CompleteRequest[] = [];

  static reset(script: Script): void {
    ScriptedGateway.script = script;
    ScriptedGateway.requests = [];
  }

  @MessagePattern(routes.llmComplete.subject)
  complete(@Payload() request: llm.CompleteRequest, @Ctx() ctx: BusContext): Promise<Reply> {
    ScriptedGateway.requests.push(request);
    return Promise.resolve(ScriptedGateway.script(request, ctx.signal));
  }
}

/** An answer of plain text. */
export function says(text: string): Reply {
  return { message: { blocks: [{ kind: { case: 'text', value: text } }] }, provider: 'sim', model: 'primary' };
}

/** Waits until the caller gives up. */
export function hangs(_request: llm.CompleteRequest, signal: AbortSignal): Promise<Reply> {
  return new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
}
