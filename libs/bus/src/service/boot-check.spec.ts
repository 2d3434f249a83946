import { routes, type Route } from '@nightshift/contracts';
import { bootFaults, mustHandle, type Declared } from './boot-check';

const request = (route: Route, count = 1): Declared => ({ pattern: route.subject, kind: 'request', count });
const event = (route: Route, count = 1): Declared => ({ pattern: route.subject, kind: 'event', count });
const noKey = () => undefined;
const complete = (Object.values(routes) as Route[])
  .filter((route) => mustHandle(route, 'tool-result-store'))
  .map((route) => (route.delivery === 'request' ? request(route) : event(route)));

describe('bootFaults', () => {
  it('finds nothing when every owned command and request has one handler', () => {
    expect(bootFaults('tool-result-store', complete, noKey)).toEqual([]);
  });

  it('names each route whose handler is missing', () => {
    const lacking = complete.filter((one) => one.pattern !== routes.toolresultPut.subject);
    expect(bootFaults('tool-result-store', lacking, noKey)).toEqual(['toolresultPut: expected a handler, found none']);
    expect(bootFaults('tool-result-store', lacking, noKey, true)).toEqual([]);
  });

  it('expects an answer to a fan-out from every service that is named for it', () => {
    expect(bootFaults('compactor', [event(routes.compactionRun)], noKey)).toEqual(['taskStop: expected a handler, found none']);
    expect(mustHandle(routes.taskStop, 'orchestrator')).toBe(false);
  });

  it.each([
    ['a second handler', [request(routes.toolresultPut, 2)], ['toolresultPut: expected one handler, found 2']],
    ['a foreign route', [request(routes.taskGet)], ['taskGet: not for tool-result-store (request of orchestrator)']],
    [
      'an unknown subject',
      [request({ ...routes.taskGet, subject: 'nightshift.x.v1' })],
      ['nightshift.x.v1: not in the routes table'],
    ],
    ['a request declared as event', [event(routes.toolresultPut)], ['toolresultPut: expected @MessagePattern, it is a request']],
    [
      'a command declared as request',
      [request(routes.toolresultRootEnded)],
      ['toolresultRootEnded: expected @EventPattern, it is a command'],
    ],
  ])('refuses %s', (_what, declared, faults) => {
    expect(bootFaults('tool-result-store', declared, noKey, true)).toEqual(faults);
  });

  it('refuses a keyed route without the key of this instance', () => {
    expect(bootFaults('tool-runner', [event(routes.toolRun)], noKey, true)).toEqual([
      'toolRun: expected the key of this instance (runner)',
    ]);
    expect(bootFaults('tool-runner', [event(routes.toolRun)], () => 'r1', true)).toEqual([]);
  });
});
