import { headerNames, routes, type Route } from '@nightshift/contracts';
import type { Bus } from '../bus';
import { systemTeam } from '../context';
import { header, headerRecord } from '../wire/headers';
import type { Delivered } from './delivered';

/** Puts a message away in its owner's database. Stream sequence and consumer make a repetition the same row. */
export async function putDeadLetter(bus: Bus, route: Route, message: Delivered, reason: string): Promise<void> {
  await bus.request(
    routes.deadletterPut,
    {
      stream: message.stream,
      consumer: message.consumer,
      streamSeq: message.streamSeq,
      subject: message.subject,
      body: message.body,
      headers: headerRecord(message.headers),
      reason,
      deliveries: message.delivery,
      route: route.name,
    },
    { team: header(message.headers, headerNames.team) ?? systemTeam },
  );
}
