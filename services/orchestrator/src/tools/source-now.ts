import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { NightshiftError, routes } from '@nightshift/contracts';
import type { toolresult } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import type { TaskDetails } from '../tasks/task-details';

/** What became of the file that a stored result was read from; unknown: nobody could look. */
export type SourceState = 'unchanged' | 'changed' | 'gone' | 'unknown';

/** The runner may be away; a restored result does not wait for it. In ms. */
const lookMs = 2_000;

/** Compares a stored result with the file it was read from, as it is now. */
@Injectable()
export class SourceNow {
  constructor(
    private readonly bus: Bus,
    private readonly logger: Logger,
  ) {}

  async of(
    team: string,
    workspace: TaskDetails['workspace'],
    { sourcePath, sourceSha256 }: Pick<toolresult.RestoreReply, 'sourcePath' | 'sourceSha256'>,
  ): Promise<SourceState> {
    if (sourcePath === '' || sourceSha256 === '' || !workspace?.runner) return 'unknown';
    try {
      const { files } = await this.bus.request(
        routes.workspaceRead,
        { workspaceId: workspace.id, paths: [sourcePath], maxBytesPerFile: 1 },
        { team, key: workspace.runner, deadlineMs: lookMs },
      );
      return stateOf(files[0], sourceSha256);
    } catch (thrown) {
      const error = NightshiftError.from(thrown);
      this.logger.debug({ error, team, workspace: workspace.id }, 'nobody could look at the source of a stored result');
      return 'unknown';
    }
  }
}

function stateOf(file: { readonly unreadable: boolean; readonly sha256: string } | undefined, sha256: string): SourceState {
  if (!file) return 'unknown';
  if (file.unreadable) return 'gone';
  if (file.sha256 === '') return 'unknown';
  return file.sha256 === sha256 ? 'unchanged' : 'changed';
}
