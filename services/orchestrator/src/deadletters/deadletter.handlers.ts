import type { MessageInitShape } from '@bufbuild/protobuf';
import { fromBinary, toJsonString } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { Bus, BusContext } from '@nightshift/bus';
import { NightshiftError, deadletter, fromMs, routeOfSubject, routes } from '@nightshift/contracts';
import { v7 } from 'uuid';
import { DeadLetterStore } from './deadletter.store';
import type { DeadLetterRow } from './deadletter.store';
import { Unpark } from './unpark';

type Letter = MessageInitShape<typeof deadletter.DeadLetterSchema>;

@Controller()
export class DeadLetterHandlers {
  constructor(
    private readonly bus: Bus,
    private readonly store: DeadLetterStore,
    private readonly unpark: Unpark,
  ) {}

  @MessagePattern(routes.deadletterPut.subject)
  async put(
    @Payload() letter: deadletter.PutRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof deadletter.PutReplySchema>> {
    const { id } = await this.store.put(ctx.team, this.unpark.taskOf(letter), letter);
    // Repeated with every put of the same letter: a crash in between must not leave the task parked.
    await this.unpark.run(ctx.team, letter);
    return { id };
  }

  @MessagePattern(routes.deadletterList.subject)
  async list(
    @Payload() request: deadletter.ListRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof deadletter.ListReplySchema>> {
    const limit = Math.min(Math.max(request.limit || 50, 1), 500);
    const letters = await this.store.list(ctx.team, { limit, state: request.state, id: request.id });
    return { deadLetters: letters.map(present) };
  }

  @MessagePattern(routes.deadletterResolve.subject)
  async resolve(
    @Payload() request: deadletter.ResolveRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof deadletter.ResolveReplySchema>> {
    if (request.action !== 'retry' && request.action !== 'discard') {
      throw new NightshiftError('INVALID_ARGUMENT', 'the dead letter stays', {
        faults: [`action: expected retry or discard, got ${JSON.stringify(request.action)}`],
      });
    }
    const state = request.action === 'retry' ? 'retried' : 'discarded';
    const letter = await this.store.decide(ctx.team, request.id, state);
    if (!letter) throw new NightshiftError('NOT_FOUND', `there is no waiting dead letter ${request.id}`);
    if (state === 'retried') await this.retry(letter);
    return { deadLetter: present(letter) };
  }

  /** The same body under a new message id: the old one may still be in the server's duplicate window. */
  private async retry(letter: DeadLetterRow): Promise<void> {
    try {
      const route = routeOfSubject(letter.subject);
      if (route?.delivery !== 'command')
        throw new NightshiftError('FAILED_PRECONDITION', `${letter.subject} is no command: it cannot be retried`);
      const key = letter.subject.slice(route.subject.length + 1) || undefined;
      await this.bus.command(route, fromBinary(route.input, letter.body), {
        team: letter.team,
        key,
        messageId: `${letter.id}:${v7()}`,
      });
    } catch (error) {
      await this.store.undecide(letter.team, letter.id);
      throw error;
    }
  }
}

function present(letter: DeadLetterRow): Letter {
  return {
    id: letter.id,
    subject: letter.subject,
    route: letter.route,
    reason: letter.reason,
    atMs: fromMs(letter.at),
    deliveries: letter.deliveries,
    state: letter.state,
    body: letter.body,
    headers: { ...letter.headers },
    teamId: letter.team,
    taskId: letter.taskId,
    bodyJson: bodyJson(letter),
  };
}

function bodyJson(letter: DeadLetterRow): string {
  const route = routeOfSubject(letter.subject);
  if (!route) return '';
  try {
    return toJsonString(route.input, fromBinary(route.input, letter.body), { prettySpaces: 2 });
  } catch {
    // Not decodable is the very thing that the reader wants to see; the raw body is beside it.
    return '';
  }
}
