import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { BusContext } from './context';

export interface RequestOptions {
  team: string;
  /** Last token of a keyed subject, such as the runner. */
  key?: string;
  /** Milliseconds from now, or an absolute time such as `ctx.deadlineMs`; the route's default otherwise. */
  deadlineMs?: number;
  /** Gives up at once, and tells the other side of a long request. */
  signal?: AbortSignal;
}
export interface GatherOptions {
  team: string;
  /** How long to collect replies, in milliseconds. */
  waitMs: number;
  /** Stop as soon as this many have answered. */
  expect?: number;
}
export interface CommandOptions {
  team: string;
  key?: string;
  /** Deterministic, such as `task:epoch:publish-number`: the server drops a repetition within two minutes. */
  messageId: string;
}
export interface EventOptions {
  team: string;
  messageId: string;
}
export interface LiveOptions {
  team: string;
  task: string;
}
export type MessageListener<I extends DescMessage> = (message: MessageShape<I>, context: BusContext) => void | Promise<void>;
/** Stops a subscription; safe to call twice. */
export type Stop = () => void;
/** `ready` resolves once the server knows the subscription: what is published from then on is seen. */
export type EventSubscription = Stop & { readonly ready: Promise<void> };
