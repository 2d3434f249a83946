import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { NightshiftError } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import { ApiConfig } from '../config';
import { bootstrap } from './bootstrap';
import { KeysStore } from './keys.store';

const retryMs = 500;

/** Lets the first admin in at start, however late the database comes, and again at SIGHUP. */
@Injectable()
export class BootstrapRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private waitingFor: string | undefined = 'the bootstrap key was not looked at yet';
  private timer: NodeJS.Timeout | undefined;
  private readonly reload = (): void => void this.run();

  constructor(
    @Inject(KeysStore) private readonly keys: KeysStore,
    @Inject(ApiConfig) private readonly config: ApiConfig,
    @Inject(Logger) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): Promise<void> {
    process.on('SIGHUP', this.reload);
    return this.run();
  }

  beforeApplicationShutdown(): void {
    process.off('SIGHUP', this.reload);
    clearTimeout(this.timer);
  }

  /** Why nobody can get in yet. */
  fault(): string | undefined {
    return this.waitingFor;
  }

  private async run(): Promise<void> {
    const { BOOTSTRAP_KEY: key, BOOTSTRAP_KEY_FILE: file } = this.config.settings;
    try {
      const { token, note } = await bootstrap(this.keys, { file, key });
      this.waitingFor = undefined;
      if (note) this.log.info(note);
      // Not a log line: logs are kept and shipped, and this is the one place where the key is to be seen.
      if (token) process.stdout.write(`\n  Nightshift admin key (shown only now): ${token}\n\n`);
    } catch (thrown) {
      const error = NightshiftError.from(thrown);
      this.waitingFor = `bootstrap key: ${error.text}`;
      this.log.warn({ error }, 'the bootstrap key is not in place yet');
      this.timer = setTimeout(this.reload, retryMs);
    }
  }
}
