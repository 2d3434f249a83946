import { Controller, Header } from '@nestjs/common';
import { Serves } from '../http/endpoint';
import type { Json } from '../http/present';
import { version } from '../version';
import { docsEndpoints } from './docs.endpoints';
import { docsPage } from './docs-page';
import { endpoints } from './endpoints';
import { openApi } from './openapi';

@Controller()
export class DocsController {
  private readonly document = openApi(endpoints, version);
  private readonly html = docsPage(endpoints);

  @Serves(docsEndpoints.openapi)
  openapi(): { [key: string]: Json } {
    return this.document;
  }

  @Serves(docsEndpoints.page)
  @Header('content-type', 'text/html; charset=utf-8')
  page(): string {
    return this.html;
  }
}
