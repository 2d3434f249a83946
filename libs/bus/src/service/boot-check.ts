import { routeOfSubject, routes, type Route, type ServiceName } from '@nightshift/contracts';

/** A handler as its decorators declared it. */
export interface Declared {
  pattern: string;
  kind: 'request' | 'event';
  count: number;
}

/** True when this service must have a handler for the route. Events and live messages are read by choice. */
export function mustHandle(route: Route, service: ServiceName): boolean {
  if (route.delivery === 'request') return route.answeredBy.includes(service);
  return route.delivery === 'command' && route.owner === service;
}

function mayHandle(route: Route, service: ServiceName): boolean {
  return (
    mustHandle(route, service) || (route.delivery === 'event' && (route.owner === service || route.senders.includes(service)))
  );
}

/** Every reason why these handlers cannot serve: missing, double, foreign, of the wrong kind, without their key. */
export function bootFaults(
  service: ServiceName,
  declared: readonly Declared[],
  keyOf: (route: Route) => string | undefined,
  partial = false,
): string[] {
  const faults: string[] = [];
  const handled = new Set<Route>();
  for (const { pattern, kind, count } of declared) {
    const route = routeOfSubject(pattern);
    if (route === undefined || route.subject !== pattern) {
      faults.push(`${pattern}: not in the routes table`);
      continue;
    }
    handled.add(route);
    const wanted = route.delivery === 'request' ? 'request' : 'event';
    if (!mayHandle(route, service)) faults.push(`${route.name}: not for ${service} (${route.delivery} of ${route.owner})`);
    else if (kind !== wanted)
      faults.push(
        `${route.name}: expected @${wanted === 'request' ? 'MessagePattern' : 'EventPattern'}, it is a ${route.delivery}`,
      );
    if (count > 1) faults.push(`${route.name}: expected one handler, found ${count}`);
    if (route.key !== 'none' && keyOf(route) === undefined)
      faults.push(`${route.name}: expected the key of this instance (${route.key})`);
  }
  if (!partial) {
    for (const route of Object.values(routes) as Route[]) {
      if (mustHandle(route, service) && !handled.has(route)) faults.push(`${route.name}: expected a handler, found none`);
    }
  }
  return faults;
}
