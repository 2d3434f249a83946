/** Injection token of the core's dependencies. */
export const GATEWAY_DEPS = Symbol('gateway deps');
