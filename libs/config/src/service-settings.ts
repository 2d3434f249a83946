import { hostname } from 'node:os';
import { z } from 'zod';
import { secret } from './secrets';

/** A whole number from the environment, bounds included. */
export function integer(bounds: { min?: number; max?: number } = {}): z.ZodCoercedNumber {
  return z.coerce
    .number()
    .int()
    .min(bounds.min ?? 0)
    .max(bounds.max ?? Number.MAX_SAFE_INTEGER);
}

/** `true`, `1`, `yes` or `false`, `0`, `no`. */
export function flag(): z.ZodPipe<z.ZodEnum<Record<string, string>>, z.ZodTransform<boolean, string>> {
  const words = { true: 'true', false: 'false', '1': '1', '0': '0', yes: 'yes', no: 'no' };
  return z.enum(words as Record<string, string>).transform((word) => ['true', '1', 'yes'].includes(word));
}

/** Host name and process id: unique between containers (where every pid is 1) and between processes of one host. */
const instance = `${hostname()}-${process.pid}`.replace(/[^A-Za-z0-9_-]/g, '-');

/** The settings every service has; spread them into the service's own shape. Times in milliseconds. */
export const serviceSettings = {
  /** One URL or several, separated by commas. */
  NATS_URL: z.string().min(1).default('nats://127.0.0.1:4222'),
  NATS_USER: z.string().optional(),
  NATS_PASSWORD: secret(z.string().min(1)).optional(),
  /** PEM file of the authority that signed the server's certificate; switches TLS on. */
  NATS_CA_FILE: z.string().optional(),
  /** PEM files of this client, for a server that asks for a certificate. */
  NATS_CERT_FILE: z.string().optional(),
  NATS_KEY_FILE: z.string().optional(),
  /** `fail`: refuse to start when a stream or consumer differs from the table. `apply`: change it. */
  NATS_DRIFT: z.enum(['fail', 'apply']).default('fail'),
  /** 0 = any free port. */
  METRICS_PORT: integer({ max: 65_535 }).default(0),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  INSTANCE_ID: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, 'expected letters, digits, _ and - only')
    .default(instance),
  /** From SIGTERM to the end of the process. */
  SHUTDOWN_GRACE_MS: integer({ max: 600_000 }).default(25_000),
  /** Of it, how long HTTP is served on although the process is not ready any more: what a load balancer needs to notice. */
  SHUTDOWN_DELAY_MS: integer({ max: 60_000 }).default(0),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  /** How long a command may go without a sign of life before the server delivers it again. */
  ACK_WAIT_MS: integer({ min: 300, max: 600_000 }).default(30_000),
  /** Tests only: the process kills itself at this point. */
  CRASH_POINT: z.string().optional(),
  /** Tests only: at the point that this file names. */
  CRASH_PLAN: z.string().optional(),
} as const;

/** Settings of a service with a database. */
export const databaseSettings = {
  DATABASE_URL: secret(z.string().regex(/^postgres(ql)?:\/\//, 'expected postgresql://user:password@host:port/database')),
  DATABASE_POOL_SIZE: integer({ min: 1, max: 100 }).default(8),
} as const;

export type ServiceConfig = z.output<z.ZodObject<typeof serviceSettings>>;
export type DatabaseConfig = z.output<z.ZodObject<typeof databaseSettings>>;
