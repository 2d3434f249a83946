import { Module } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { startService } from '@nightshift/bus';
import type { RunningService, ServiceOptions } from '@nightshift/bus';
import { loadConfig, serviceSettings } from '@nightshift/config';
import { compaction, routes } from '@nightshift/contracts';
import type { ServiceName } from '@nightshift/contracts';
import { seededKey, windowBucket, windowKey } from '@nightshift/windows';
import { create, toBinary } from '@bufbuild/protobuf';
import { ScriptedGateway } from './scripted-gateway';
import { ScriptedRunner } from './scripted-runner';

@Module({})
class ScriptedModule {}

/** Starts the other side of the bus for a spec: real subjects, real wire, answers from the spec. */
export function startScripted(
  natsUrl: string,
  service: ServiceName,
  controllers: Type[],
  over: Partial<ServiceOptions> = {},
): Promise<RunningService> {
  const config = loadConfig(serviceSettings, {
    NATS_URL: natsUrl,
    LOG_LEVEL: 'silent',
    ACK_WAIT_MS: '5000',
    SHUTDOWN_GRACE_MS: '500',
    INSTANCE_ID: `scripted-${service}`,
  });
  return startService({ service, module: { module: ScriptedModule, controllers }, config, partial: true, ...over });
}

export const startGateway = (natsUrl: string): Promise<RunningService> =>
  startScripted(natsUrl, 'provider-gateway', [ScriptedGateway]);

/** A runner that has announced itself and holds its queue. */
export async function startRunner(natsUrl: string): Promise<RunningService> {
  const runner = await startScripted(natsUrl, 'tool-runner', [ScriptedRunner], { keys: { runner: 'r1' } });
  await runner.bus.request(
    routes.runnerAnnounce,
    { runner: 'r1', sandboxed: true, allowedRoots: ['/repos'], slots: 4, workspaceIds: [] },
    { team: 'system' },
  );
  return runner;
}

/** Publishes the windows of models as the registry does. */
export async function publishWindows(service: RunningService, windows: Readonly<Record<string, number>>): Promise<void> {
  const bucket = await service.bus.kv(windowBucket);
  for (const [name, window] of Object.entries(windows)) {
    const [provider = '', model = ''] = name.split('/');
    const value = create(compaction.ModelWindowSchema, { provider, model, window, source: 'operator' });
    await bucket.put(windowKey({ provider, endpoint: '', model }), toBinary(compaction.ModelWindowSchema, value));
  }
  await bucket.put(seededKey, new Uint8Array([1]));
}
