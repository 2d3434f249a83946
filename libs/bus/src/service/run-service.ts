import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AddressInfo } from 'node:net';
import type { Abstract, INestApplicationContext, INestMicroservice, Type } from '@nestjs/common';
import { describeConfig, secretValues, serviceSettings } from '@nightshift/config';
import { NightshiftError } from '@nightshift/contracts';
import { createLogger, createMetrics, initTracing, startOperationsServer, type Logger } from '@nightshift/metrics';
import { Bus, type BusSettings } from '../bus';
import { BusModule } from './bus.module';
import { NestLogger } from './nest-logger';
import { RethrowFilter } from './rethrow.filter';
import type { RunningService, ServiceOptions } from './service-options';
import { BusStrategy } from './strategy';
import { pause, within } from './within';

@Module({})
class RootModule {}

function loggerOf(options: ServiceOptions): Logger {
  if (options.logger) return options.logger;
  const { config, settings = serviceSettings } = options;
  return createLogger({
    service: options.service,
    level: config.LOG_LEVEL,
    instance: config.INSTANCE_ID,
    secrets: secretValues(settings, config as never),
    ...(options.version === undefined ? {} : { version: options.version }),
  });
}

function busSettings(options: ServiceOptions): BusSettings {
  const { config } = options;
  const settings: BusSettings = {
    url: config.NATS_URL,
    service: options.service,
    instance: config.INSTANCE_ID,
    ackWaitMs: config.ACK_WAIT_MS,
    onDrift: config.NATS_DRIFT,
  };
  if (config.NATS_USER !== undefined) settings.user = config.NATS_USER;
  if (config.NATS_PASSWORD !== undefined) settings.password = config.NATS_PASSWORD;
  if (config.NATS_CA_FILE !== undefined) settings.caFile = config.NATS_CA_FILE;
  if (config.NATS_CERT_FILE !== undefined) settings.certFile = config.NATS_CERT_FILE;
  if (config.NATS_KEY_FILE !== undefined) settings.keyFile = config.NATS_KEY_FILE;
  if (options.timings !== undefined) settings.timings = options.timings;
  return settings;
}

/**
 * Boots a service: operations server (not ready), NATS, the Nest application with its handlers, streams and consumers, HTTP.
 * Throws FAILED_PRECONDITION when handlers, streams or consumers differ from the routes table.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { config, service } = options;
  const metrics = createMetrics(service);
  metrics.gauge('build_info').set({ service, version: options.version ?? '0.1.0', instance: config.INSTANCE_ID }, 1);
  const logger = loggerOf(options);
  const tracing = initTracing({
    service,
    instance: config.INSTANCE_ID,
    ...(config.OTEL_EXPORTER_OTLP_ENDPOINT ? { endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT } : {}),
  });
  let state: 'starting' | 'running' | 'stopping' = 'starting';
  let strategy: BusStrategy | undefined;
  const operations = await startOperationsServer({
    port: config.METRICS_PORT,
    host: config.METRICS_HOST,
    metrics,
    ready: async () => {
      if (state !== 'running' || strategy === undefined) return [`service: ${state}`];
      const checks = await Promise.all((options.ready ?? []).map((check) => check()));
      return [...strategy.faults(Date.now()), ...checks.flatMap((fault) => fault ?? [])];
    },
  });

  const shown = describeConfig(options.settings ?? serviceSettings, config as never);
  logger.info({ config: shown, operations: operations.url }, 'starting');

  void tracing.check().then((fault) => {
    if (fault !== undefined)
      logger.warn({ fault, endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT }, 'spans do not reach the collector');
    else if (tracing.on) logger.info({ endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT }, 'spans reach the collector');
  });

  let bus: Bus | undefined;
  let app: (INestApplicationContext & { close(): Promise<void> }) | undefined;
  let stopped: Promise<void> | undefined;
  async function shutDown(): Promise<void> {
    state = 'stopping';
    const until = Date.now() + config.SHUTDOWN_GRACE_MS;
    /** A part of the time that is left: all steps together end in time. */
    const left = (part: number): number => Math.max(100, (until - Date.now()) * part);
    bus?.drain.begin();
    // A load balancer needs a moment to notice that this process is not ready any more, and until then sends it clients.
    if (options.http !== undefined && app !== undefined) await pause(Math.min(config.SHUTDOWN_DELAY_MS, left(0.5)));
    // Work in flight may still need the HTTP side and the database, so both close after the last handler.
    await strategy?.drain(left(0.8));
    await options.onShutdown?.();
    // An open HTTP stream must not hold the process beyond its time; the bus closes last, since HTTP handlers use it.
    if (app !== undefined && !(await within(app.close(), left(0.6)))) logger.warn('HTTP connections were still open');
    if (bus !== undefined && !(await within(bus.close(), left(0.6)))) logger.warn('NATS could not be drained');
    await operations.close();
    if (!(await within(tracing.shutdown(), left(0.8)))) logger.warn('spans could not be handed over');
  }
  const stop = (): Promise<void> => (stopped ??= shutDown());

  try {
    bus = await Bus.connect(busSettings(options), metrics, logger);
    strategy = new BusStrategy(bus, options);
    const root = { module: RootModule, imports: [BusModule.forRoot(bus, metrics, logger, config), options.module] };
    const httpPort = await boot(root, strategy, options, logger, (one) => (app = one));
    state = 'running';
    logger.info({ operations: operations.url, ...(httpPort === undefined ? {} : { httpPort }) }, 'ready');
    const running = app as INestApplicationContext;
    return {
      bus,
      metrics,
      logger,
      operations,
      ...(httpPort === undefined ? {} : { httpPort }),
      get: <T>(token: Type<T> | Abstract<T> | symbol | string) => running.get<T>(token, { strict: false }),
      stop,
    };
  } catch (error) {
    await stop().catch((second: unknown) => logger.error({ error: second }, 'could not stop after a failed start'));
    throw NightshiftError.from(error);
  }
}

async function boot(
  root: { module: Type },
  strategy: BusStrategy,
  options: ServiceOptions,
  logger: Logger,
  keep: (app: INestApplicationContext & { close(): Promise<void> }) => void,
): Promise<number | undefined> {
  const nest = { logger: new NestLogger(logger), abortOnError: false } as const;
  if (options.http === undefined) {
    const app: INestMicroservice = await NestFactory.createMicroservice(root, { ...nest, strategy });
    keep(app);
    app.useGlobalFilters(new RethrowFilter());
    await app.listen();
    return undefined;
  }
  const { adapter, host, port, prepare } = options.http;
  const app = await NestFactory.create(root, adapter, nest);
  keep(app);
  // Deferred, or Nest would build the handlers before it knows the filter. The hooks of its modules are the application's to call.
  const messages = app.connectMicroservice({ strategy }, { inheritAppConfig: false, deferInitialization: true });
  messages.useGlobalFilters(new RethrowFilter());
  (messages as unknown as { setIsInitHookCalled(called: boolean): void }).setIsInitHookCalled(true);
  await prepare?.(app);
  await app.startAllMicroservices();
  try {
    await app.listen(port, host);
  } catch (cause) {
    throw new NightshiftError(
      'UNAVAILABLE',
      `cannot listen on ${host}:${port} (${(cause as NodeJS.ErrnoException).code ?? String(cause)})`,
      { cause },
    );
  }
  return (app.getHttpServer() as { address(): AddressInfo }).address().port;
}

/** Exit codes: 78 = the configuration or its surroundings are wrong (EX_CONFIG), 1 = anything else. */
function exitCode(error: NightshiftError): number {
  return error.code === 'INVALID_ARGUMENT' || error.code === 'FAILED_PRECONDITION' ? 78 : 1;
}

/**
 * The whole life of a service process: boots, runs until SIGTERM or SIGINT, drains, exits. `options` may be a function, so that
 * a faulty configuration ends as a readable list of faults with exit code 78.
 */
export async function runService(
  options: ServiceOptions | (() => ServiceOptions | Promise<ServiceOptions>),
): Promise<RunningService> {
  try {
    const running = await startService(typeof options === 'function' ? await options() : options);
    const end = (signal: string): void => {
      running.logger.info({ signal }, 'draining');
      running.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          running.logger.error({ error }, 'could not drain');
          process.exit(1);
        },
      );
    };
    // A state nobody foresaw: what is in flight comes again elsewhere.
    const broken = (error: unknown): void => {
      running.logger.fatal({ error }, 'an error nobody caught');
      process.exit(1);
    };
    process.on('uncaughtException', broken);
    process.on('unhandledRejection', broken);
    process.once('SIGTERM', () => end('SIGTERM'));
    process.once('SIGINT', () => end('SIGINT'));
    void running.bus.connection.closed().then((error) => {
      // Nothing but our own drain closes it; anything else ends the process, so that a supervisor starts a fresh one.
      if (error) {
        running.logger.fatal({ error }, 'the connection to NATS is gone for good');
        process.exit(1);
      }
    });
    return running;
  } catch (error) {
    const fault = NightshiftError.from(error);
    process.stderr.write(`${fault.message}\n`);
    if (fault.code === 'INTERNAL' && fault.cause instanceof Error) process.stderr.write(`${fault.cause.stack}\n`);
    process.exit(exitCode(fault));
  }
}
