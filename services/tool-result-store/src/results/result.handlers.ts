import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { fromMs, routes } from '@nightshift/contracts';
import type { toolresult } from '@nightshift/contracts';
import { Metrics } from '@nightshift/metrics';
import { ResultService } from './result.service';
import { ResultStore } from './result.store';

type Reply<T extends keyof typeof routes> = MessageInitShape<Extract<(typeof routes)[T], { output: unknown }>['output']>;

const statLimit = 1_000;

@Controller()
export class ResultHandlers {
  constructor(
    @Inject(ResultService) private readonly results: ResultService,
    @Inject(ResultStore) private readonly store: ResultStore,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @MessagePattern(routes.toolresultPut.subject)
  async put(@Payload() message: toolresult.PutRequest, @Ctx() ctx: BusContext): Promise<Reply<'toolresultPut'>> {
    const { content, ...record } = message;
    const done = await this.results.put(ctx.team, record, content);
    this.metrics.counter('toolresult_puts').inc({ outcome: done.deduplicated ? 'deduplicated' : 'stored' });
    return done;
  }

  @MessagePattern(routes.toolresultGet.subject)
  async get(@Payload() message: toolresult.GetRequest, @Ctx() ctx: BusContext): Promise<Reply<'toolresultGet'>> {
    const { record, content, more } = await this.results.get(ctx.team, message.rootId, message.id, message.offset, message.limit);
    const { tool, mediaType, sourcePath, sourceSha256, callId, bytes } = record;
    const sha256 = record.sha256.toString('hex');
    return { content, sha256, totalBytes: bytes, tool, mediaType, more, sourcePath, sourceSha256, callId };
  }

  @MessagePattern(routes.toolresultStat.subject)
  async stat(@Payload() message: toolresult.StatRequest, @Ctx() ctx: BusContext): Promise<Reply<'toolresultStat'>> {
    const found = await this.store.stat(ctx.team, message.rootId, message.ids.slice(0, statLimit));
    const stats = found.map(({ id, sha256, bytes, tool, atMs }) => ({
      id,
      sha256: sha256.toString('hex'),
      bytes,
      tool,
      atMs: fromMs(atMs),
    }));
    return { stats };
  }
}
