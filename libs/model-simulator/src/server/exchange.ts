import type { IncomingMessage, ServerResponse } from 'node:http';
import { latencySpec } from '../config/model-spec';
import type { Format } from '../formats/format';
import type { PromptCache } from '../usage/prompt-cache';
import { decideReply, requestIdOf, type Reply } from './decide';
import { perform } from './perform';
import { readBody } from './read-body';
import { windowOf } from './runtime';
import { receive, type Mount, type Received } from './receive';
import type { LogLine, RequestLog } from './request-log';

export interface ExchangeServices {
  readonly log: RequestLog;
  readonly cache: PromptCache;
  readonly random: () => number;
  readonly startedMs: number;
}

export interface Route {
  readonly path: string;
  readonly format: Format;
  readonly mount: Mount;
  readonly modelInPath?: string;
  /** Only the token count is asked for. */
  readonly countOnly: boolean;
}

const noLatency = latencySpec.parse({});

/** One model request from its first byte to its log line. */
export async function exchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  route: Route,
  services: ExchangeServices,
): Promise<void> {
  const nowMs = Date.now();
  const number = services.log.arrive();
  const raw = await readBody(incoming);
  if (raw === undefined) return;
  const { format, mount } = route;
  const received = receive({
    ...route,
    raw,
    headers: incoming.headers,
    nowMs,
    msSinceStart: nowMs - services.startedMs,
    random: services.random,
  });
  const reply = decideReply(received, {
    format,
    mountName: mount.name,
    local: mount.local,
    countOnly: route.countOnly,
    cache: services.cache,
    nowMs,
    number,
  });
  const performed = await perform(response, reply, {
    requestId: requestIdOf(received, number),
    streamType: format.streamType,
    latency: received.model?.spec.latency ?? noLatency,
  });
  await settled(response);
  const gone = performed.ended === 'complete' && !response.writableFinished;
  services.log.write({
    kind: 'model',
    number,
    at: new Date(nowMs).toISOString(),
    mount: mount.name,
    path: route.path,
    format: format.name,
    ...about(received, reply),
    ...performed,
    ended: gone ? 'client_closed' : performed.ended,
    bytes: raw.length,
    sha256: received.sha256,
    closedAt: new Date().toISOString(),
    ms: Date.now() - nowMs,
  });
}

function about(
  received: Received,
  reply: Reply,
): Omit<
  LogLine,
  'kind' | 'number' | 'at' | 'mount' | 'path' | 'format' | 'status' | 'deltas' | 'ended' | 'bytes' | 'sha256' | 'closedAt' | 'ms'
> {
  const { request, model, fault } = received;
  const answer = reply.kind === 'stream' || reply.kind === 'whole' ? reply.answer : undefined;
  const refused = reply.kind === 'stream' || reply.kind === 'error' ? reply.refused : undefined;
  const calls = answer?.blocks.flatMap((block) => (block.type === 'call' ? [block.name] : [])) ?? [];
  return {
    model: received.modelName,
    request: received.requestNumber,
    purpose: received.purpose,
    stream: request?.stream ?? false,
    tools: request?.conversation.tools.length ?? 0,
    messages: request?.segments.filter((segment) => segment.message).length ?? 0,
    input: received.measured.total,
    ...(request?.requestedOutput === undefined ? {} : { requestedOutput: request.requestedOutput }),
    ...(model === undefined ? {} : { window: windowOf(model) }),
    ...(answer === undefined ? {} : { usage: answer.usage, stop: answer.stop }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(fault === undefined ? {} : { fault: fault.name ?? fault.action.kind }),
    ...(refused === undefined ? {} : { refused }),
  };
}

/** Until the answer has left or the client has: only then is the outcome known. */
async function settled(response: ServerResponse): Promise<void> {
  if (response.writableFinished || response.closed || response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.once('finish', resolve);
    response.once('close', resolve);
  });
}
