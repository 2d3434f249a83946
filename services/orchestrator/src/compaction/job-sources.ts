import type { MessageInitShape } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { compaction, fromMs, routes } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import { boundUsage, storedPolicy } from '../steps/context';
import type { Prepared } from '../steps/prepared';
import { EntryStore } from '../tasks/entry.store';
import type { ChainCandidate, TaskDetails } from '../tasks/task-details';
import type { TaskRow } from '../tasks/task-row';
import { FileStore } from '../tools/file.store';
import { criteriaText, planText } from '../tools/state-tools';
import { Handles } from './handles';

type Job = MessageInitShape<typeof compaction.JobSchema>;

/** Files that may be re-injected, newest first. */
const editedFiles = 5;
/** A worker shows at most 8 000 characters of each; UTF-8 takes up to four bytes per character. */
const bytesPerFile = 32_000;
/** The runner may be away; a pass does not wait for it. */
const readMs = 2_000;

/** Gathers what a pass needs beside the entries: from the sources, never from a summary. */
@Injectable()
export class JobSources {
  constructor(
    private readonly bus: Bus,
    private readonly entries: EntryStore,
    private readonly files: FileStore,
    private readonly handles: Handles,
    private readonly logger: Logger,
  ) {}

  async job(team: string, row: TaskRow, prepared: Prepared, candidate: ChainCandidate): Promise<Job> {
    const { details } = prepared;
    const [checkpoint, edited, handles] = await Promise.all([
      this.entries.checkpoint(team, row.id, row.generation),
      this.edited(team, row, details),
      this.handles.live(team, row.id),
    ]);
    const { memory } = row;
    return {
      reason: memory.pass?.reason ?? compaction.PassReason.THRESHOLD,
      generation: row.generation,
      lastSeq: row.lastSeq,
      system: prepared.system,
      tools: [...prepared.tools],
      checkpoint,
      targetProvider: candidate.provider,
      targetEndpoint: candidate.endpoint,
      targetModel: candidate.model,
      maxOutputTokens: details.options.maxOutputTokens,
      policy: { ...storedPolicy(details.options.compaction) },
      measured: memory.pass?.measured ?? 0,
      usage: boundUsage(row),
      goalAndPlan: goalAndPlan(details),
      editedFiles: edited,
      handles,
      chain: details.chain.map(({ provider, model }) => `${provider}/${model}`),
      chainPosition: row.chainPosition,
      focus: details.focus,
      breaker: { ...memory.breaker },
      failedSummariesInARow: memory.failedSummaries,
      failedSummaryAtTokens: memory.failedSummaryAt,
      rootId: row.rootId,
      epoch: row.epoch,
    };
  }

  private async edited(team: string, row: TaskRow, details: TaskDetails): Promise<NonNullable<Job['editedFiles']>> {
    const { workspace } = details;
    const paths = await this.files.edited(team, row.id, editedFiles);
    if (paths.length === 0 || !workspace?.runner) return [];
    try {
      const reply = await this.bus.request(
        routes.workspaceRead,
        { workspaceId: workspace.id, paths: paths.map(({ path }) => path), maxBytesPerFile: bytesPerFile },
        { team, key: workspace.runner, deadlineMs: readMs },
      );
      const byPath = new Map(reply.files.map((file) => [file.path, file]));
      return paths.map(({ path, editedAt }) => {
        const file = byPath.get(path);
        if (!file) return { path, unreadable: true, editedAtMs: fromMs(editedAt) };
        const { content, unreadable, totalBytes, sha256 } = file;
        return { path, content, unreadable, totalBytes, sha256, editedAtMs: fromMs(editedAt) };
      });
    } catch (error) {
      this.logger.info({ error, task: row.id }, 'edited files could not be read for a pass');
      return paths.map(({ path, editedAt }) => ({ path, unreadable: true, editedAtMs: fromMs(editedAt) }));
    }
  }
}

/** The goal with its open criteria, and the plan unless it is finished. */
export function goalAndPlan(details: Pick<TaskDetails, 'goal' | 'criteria' | 'plan'>): NonNullable<Job['goalAndPlan']> {
  const open = details.criteria.filter(({ done }) => !done);
  const criteria =
    details.criteria.length === 0
      ? ''
      : open.length === 0
        ? '\n\nAll criteria are done.'
        : `\n\nOpen criteria:\n${criteriaText(open)}`;
  const goal = { kind: 'goal', label: '', text: `${details.goal}${criteria}` };
  const active = details.plan.some(({ state }) => state !== 'done');
  return active ? [goal, { kind: 'plan', label: '', text: planText(details.plan) }] : [goal];
}
