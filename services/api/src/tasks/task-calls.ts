import { Inject, Injectable } from '@nestjs/common';
import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { Bus } from '@nightshift/bus';
import { NightshiftError, type RequestRoute } from '@nightshift/contracts';
import type { DescMessage } from '@bufbuild/protobuf';
import { validate } from 'uuid';
import type { Caller } from '../auth/keys';
import { present, type Json } from '../http/present';

/** Asks the owner of a message on behalf of a caller and shows the answer. */
@Injectable()
export class TaskCalls {
  constructor(@Inject(Bus) private readonly bus: Bus) {}

  async ask<I extends DescMessage, O extends DescMessage>(
    route: RequestRoute<I, O>,
    from: Caller,
    init: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    return this.bus.request(route, init, { team: from.teamId });
  }

  async show<I extends DescMessage, O extends DescMessage>(
    route: RequestRoute<I, O>,
    from: Caller,
    init: MessageInitShape<I>,
  ): Promise<{ [key: string]: Json }> {
    return present(route.output, await this.ask(route, from, init));
  }
}

/** @throws NightshiftError NOT_FOUND for text that no task can have as its id. */
export function taskId(text: string): string {
  if (!validate(text)) throw new NightshiftError('NOT_FOUND', `there is no task ${JSON.stringify(text.slice(0, 100))}`);
  return text.toLowerCase();
}
