import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { BusContext } from '@nightshift/bus';
import { NightshiftError, provider, routes } from '@nightshift/contracts';
import { ProviderReports } from './provider-reports';

@Controller()
export class ProviderHandlers {
  constructor(private readonly reports: ProviderReports) {}

  @MessagePattern(routes.providerListModels.subject)
  listModels(
    @Payload() request: provider.ListModelsRequest,
    @Ctx() context: BusContext,
  ): Promise<MessageInitShape<typeof provider.ListModelsReplySchema>> {
    return this.reports.models(request.provider, context.signal).catch((error: unknown) => {
      throw NightshiftError.from(error);
    });
  }

  @MessagePattern(routes.providerStatus.subject)
  status(): Promise<MessageInitShape<typeof provider.StatusReplySchema>> {
    return Promise.resolve({ providers: this.reports.status() });
  }
}
