import { routeOfSubject, routes, serviceNames, subjectOf } from './index';

describe('routes', () => {
  it('names every route after its key and gives each its own subject', () => {
    for (const [key, route] of Object.entries(routes)) expect(route.name).toBe(key);
    const subjects = Object.values(routes).map((route) => route.subject);
    expect(new Set(subjects).size).toBe(subjects.length);
  });

  it('uses lower-case subjects with the version before the key', () => {
    for (const route of Object.values(routes)) expect(route.subject).toMatch(/^nightshift(\.[a-z_]+)+\.v1$/);
  });

  it('has owners and senders among the seven services', () => {
    for (const route of Object.values(routes)) {
      expect(serviceNames).toContain(route.owner);
      for (const sender of route.senders) expect(serviceNames).toContain(sender);
    }
  });

  it.each([
    [routes.taskStep, undefined, 'nightshift.task.step.v1'],
    [routes.toolRun, 'runner-1', 'nightshift.tool.run.v1.runner-1'],
    [routes.liveDelta, 'team.task', 'nightshift.live.delta.v1.team.task'],
  ] as const)('finds the route of %#', (route, key, subject) => {
    expect(subjectOf(route, key)).toBe(subject);
    expect(routeOfSubject(subject)).toBe(route);
  });

  it.each([
    [routes.taskStep, 'x'],
    [routes.toolRun, undefined],
    [routes.toolRun, 'a>b'],
    [routes.toolRun, '*'],
  ])('refuses a wrong key %#', (route, key) => {
    expect(() => subjectOf(route, key)).toThrow(RangeError);
  });

  it('does not know a foreign subject', () => {
    expect(routeOfSubject('nightshift.task.step.v2')).toBeUndefined();
  });
});
