import type { MsgHdrs } from 'nats';
import { headerNames, routes, type Route } from '@nightshift/contracts';
import type { Bus } from '../bus';
import { systemTeam } from '../context';
import { header, headerRecord } from '../wire/headers';

/** A message that is about to be put away: a delivery, or one taken from its stream. */
export interface Letter {
  readonly stream: string;
  readonly consumer: string;
  readonly streamSeq: number;
  readonly delivery: number;
  readonly subject: string;
  readonly body: Uint8Array;
  readonly headers: MsgHdrs | undefined;
}

/** Puts a message away in its owner's database. Stream sequence and consumer make a repetition the same row. */
export async function putDeadLetter(bus: Bus, route: Route, letter: Letter, reason: string): Promise<void> {
  await bus.request(
    routes.deadletterPut,
    {
      stream: letter.stream,
      consumer: letter.consumer,
      streamSeq: letter.streamSeq,
      subject: letter.subject,
      body: letter.body,
      headers: headerRecord(letter.headers),
      reason,
      deliveries: letter.delivery,
      route: route.name,
    },
    { team: header(letter.headers, headerNames.team) ?? systemTeam },
  );
}
