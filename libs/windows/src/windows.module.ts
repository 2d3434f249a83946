import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { WindowReader } from './window-reader';

/** Provides WindowReader everywhere and connects it to the bus; pass the reader whose `ready` the service checks. */
@Module({})
export class WindowsModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(Bus) private readonly bus: Bus,
    @Inject(WindowReader) private readonly reader: WindowReader,
  ) {}

  static forRoot(reader = new WindowReader()): DynamicModule {
    return {
      module: WindowsModule,
      global: true,
      providers: [{ provide: WindowReader, useValue: reader }],
      exports: [WindowReader],
    };
  }

  onApplicationBootstrap(): void {
    void this.reader.follow(this.bus);
  }

  onApplicationShutdown(): void {
    this.reader.stop();
  }
}
