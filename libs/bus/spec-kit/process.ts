import { Controller, Module } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { loadConfig, serviceSettings } from '@nightshift/config';
import { routes, type compaction } from '@nightshift/contracts';
import { runService } from '../src/index';

/** A whole service process for run-service.int.spec.ts: each pass takes half a second. */
@Controller()
class Handlers {
  @EventPattern(routes.compactionRun.subject)
  async run(@Payload() message: compaction.RunRequest): Promise<void> {
    process.stdout.write(`began ${message.taskId}\n`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.stdout.write(`ended ${message.taskId}\n`);
  }
}

@Module({ controllers: [Handlers] })
class HandlersModule {}

void runService(() => ({ service: 'compactor', module: HandlersModule, config: loadConfig(serviceSettings), partial: true }));
