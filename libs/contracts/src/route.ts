import type { DescMessage } from '@bufbuild/protobuf';

/** The seven services; the only names that own a message. */
export const serviceNames = [
  'api',
  'orchestrator',
  'provider-gateway',
  'model-registry',
  'compactor',
  'tool-result-store',
  'tool-runner',
] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The four ways a message travels. There is no fifth. */
export type Delivery = 'command' | 'event' | 'request' | 'live';

/** What a subject ends in, after the version. `none`: nothing. */
export type SubjectKey = 'none' | 'runner' | 'team-task';

interface RouteFields<D extends Delivery, I extends DescMessage> {
  /** Same as its key in the table: `<domain><Verb>`. */
  readonly name: string;
  readonly subject: string;
  readonly delivery: D;
  /** The service that handles it (for `event` and `live`: the one that publishes it). */
  readonly owner: ServiceName;
  readonly input: I;
  readonly key: SubjectKey;
  /** Who else sends it; with `owner` this is what least-privilege permissions are derived from. */
  readonly senders: readonly ServiceName[];
}
export type CommandRoute<I extends DescMessage = DescMessage> = RouteFields<'command', I>;
export type EventRoute<I extends DescMessage = DescMessage> = RouteFields<'event', I>;
export type LiveRoute<I extends DescMessage = DescMessage> = RouteFields<'live', I>;
export interface RequestRoute<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage>
  extends RouteFields<'request', I> {
  readonly output: O;
  /** Default deadline in milliseconds. */
  readonly deadlineMs: number;
  /** The reply is kept alive by heartbeats both ways and may take minutes; the deadline covers the whole. */
  readonly long: boolean;
  /** Every instance of the owner gets it (no queue group); the caller gathers the replies. */
  readonly fanOut: boolean;
  /** Services whose every instance answers; the owner alone unless the route is a fan-out to others. */
  readonly answeredBy: readonly ServiceName[];
}
export type Route = CommandRoute | EventRoute | LiveRoute | RequestRoute;

/** Services that send or read a message. */
export type Many = readonly ServiceName[];
export const version = 'v1';

export function command<I extends DescMessage>(
  name: string,
  path: string,
  owner: ServiceName,
  senders: Many,
  input: I,
  key: SubjectKey = 'none',
): CommandRoute<I> {
  return { name, subject: `nightshift.${path}.${version}`, delivery: 'command', owner, senders, input, key };
}
export function event<I extends DescMessage>(
  name: string,
  path: string,
  owner: ServiceName,
  readers: Many,
  input: I,
): EventRoute<I> {
  return { name, subject: `nightshift.${path}.${version}`, delivery: 'event', owner, senders: readers, input, key: 'none' };
}
export function live<I extends DescMessage>(
  name: string,
  path: string,
  owner: ServiceName,
  readers: Many,
  input: I,
): LiveRoute<I> {
  return { name, subject: `nightshift.${path}.${version}`, delivery: 'live', owner, senders: readers, input, key: 'team-task' };
}
interface RequestOptions {
  deadlineMs?: number;
  long?: boolean;
  fanOut?: boolean;
  key?: SubjectKey;
  answeredBy?: readonly ServiceName[];
}
export function request<I extends DescMessage, O extends DescMessage>(
  name: string,
  path: string,
  owner: ServiceName,
  senders: Many,
  input: I,
  output: O,
  options: RequestOptions = {},
): RequestRoute<I, O> {
  return {
    name,
    subject: `nightshift.${path}.${version}`,
    delivery: 'request',
    owner,
    senders,
    input,
    output,
    key: options.key ?? 'none',
    deadlineMs: options.deadlineMs ?? 5_000,
    long: options.long ?? false,
    fanOut: options.fanOut ?? false,
    answeredBy: options.answeredBy ?? [owner],
  };
}
