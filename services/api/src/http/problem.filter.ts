import { Catch, HttpException, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { NightshiftError } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiConfig } from '../config';
import { fromHttpStatus, problemOf } from './problem';

/** Every error of an operation leaves as application/problem+json. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    @Inject(ApiConfig) private readonly config: ApiConfig,
    @Inject(Logger) private readonly log: Logger,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error =
      thrown instanceof HttpException
        ? fromHttpStatus(thrown.getStatus(), thrown.message, this.config.settings.API_MAX_BODY_BYTES)
        : NightshiftError.from(thrown);
    const problem = problemOf(error, request.url.split('?')[0] ?? '');
    if (problem.status >= 500) this.log.error({ error, route: request.routeOptions.url }, 'request failed');
    if (error.retryAfterMs > 0) void reply.header('retry-after', Math.ceil(error.retryAfterMs / 1000));
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer realm="nightshift"');
    void reply.status(problem.status).type('application/problem+json').send(problem);
  }
}
