import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { SpanKind, withSpan } from '@nightshift/metrics';
import type { FastifyRequest } from 'fastify';
import { defer, lastValueFrom, type Observable } from 'rxjs';

/** A span per request, within the caller's trace when there is one: everything a request causes hangs below it. */
export class TraceRequests implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const route = request.routeOptions.url ?? 'unknown';
    const parent = (name: string): string | undefined => {
      const value = request.headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    return defer(() =>
      withSpan(
        `${request.method} ${route}`,
        { 'http.request.method': request.method, 'http.route': route },
        () => lastValueFrom(next.handle(), { defaultValue: undefined }),
        { kind: SpanKind.SERVER, parent },
      ),
    );
  }
}
