import type { Abstract, DynamicModule, INestApplication, Type } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { ServiceConfig, Settings } from '@nightshift/config';
import type { RouteName, ServiceName } from '@nightshift/contracts';
import type { Logger, Metrics, OperationsServer } from '@nightshift/metrics';
import type { Bus } from '../bus';
import type { BusContext } from '../context';
import type { BusTimings } from '../requests/timings';

/** Called after a message was put away as a dead letter, before it leaves the queue: here its owner unparks what waits for it. */
export type DeadLetterHook = (message: never, context: BusContext, reason: string) => Promise<void>;

/** A service with an HTTP front: the adapter it uses, and where it listens. */
export interface HttpOptions {
  adapter: AbstractHttpAdapter;
  host: string;
  /** 0 = any free port; read the real one from `RunningService.httpPort`. */
  port: number;
  /** Pipes, hooks, plugins; before the routes are registered. */
  prepare?: (app: INestApplication) => void | Promise<void>;
}

export interface ServiceOptions {
  service: ServiceName;
  module: Type | DynamicModule;
  config: ServiceConfig;
  /** The shape the config was loaded with: its secrets are masked in logs. */
  settings?: Settings;
  /** Handlers running at once per route: 8 for commands and events, 64 for requests (long ones 256) unless given. */
  concurrency?: Partial<Record<RouteName, number>>;
  /** The key of this instance on keyed routes, such as `{ toolRun: runnerId }`; `runner` serves every route keyed by runner. */
  keys?: Partial<Record<RouteName | 'runner', string>>;
  /** Each tells why this process cannot serve its role now; undefined = fine. */
  ready?: readonly (() => Promise<string | undefined>)[];
  deadLetter?: Partial<Record<RouteName, DeadLetterHook>>;
  http?: HttpOptions;
  /** After the last handler, before the connections close. */
  onShutdown?: () => void | Promise<void>;
  /** Tests only: handlers of some routes are left out on purpose. */
  partial?: boolean;
  /** Tests only. */
  timings?: BusTimings;
  version?: string;
  logger?: Logger;
}

export interface RunningService {
  bus: Bus;
  metrics: Metrics;
  logger: Logger;
  operations: OperationsServer;
  httpPort?: number;
  /** The instance of a provider. */
  get<T>(token: Type<T> | Abstract<T> | symbol | string): T;
  /** Not ready → no new work → what runs ends or goes back → drained → closed. Safe to call twice. */
  stop(): Promise<void>;
}
