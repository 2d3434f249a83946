import { create, toBinary } from '@bufbuild/protobuf';
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { estimateText, firstMessagePreviewChars, hardLimitOf, previewOf, spillsFirstMessage } from '@nightshift/compaction';
import { NightshiftError, routes, task, transcript } from '@nightshift/contracts';
import type { compaction } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import { Logger } from '@nightshift/metrics';
import { WindowReader } from '@nightshift/windows';
import { v7 } from 'uuid';
import { userMessage } from '../inbox/inbox';
import { isUuid } from '../outcomes/calls';
import { contextOf } from '../steps/context';
import { estimate } from '../outcomes/estimate';
import { prepare } from '../steps/prepared';
import { Committed } from './committed';
import { DefaultChain } from './default-chain';
import { defaultMaxIterations, draftDetails, firstMessage } from './draft-task';
import { nothing } from './outcome';
import { cleanText, storable, storableInt } from './storable';
import type { Recorded } from './record.store';
import type { ChainCandidate, TaskDetails } from './task-details';
import { newMemory } from './task-row';
import type { Figures, TaskRow } from './task-row';
import { TaskStore } from './task.store';

/** How long the start of a task waits for the window of its model, in ms. */
const probeMs = 2_000;

/** Creates tasks: one transaction writes the task, its idempotency key and its first entry. */
@Injectable()
export class CreateTask {
  constructor(
    private readonly bus: Bus,
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly windows: WindowReader,
    private readonly committed: Committed,
    private readonly defaults: DefaultChain,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns the task, and whether the idempotency key had created it before
   * @throws NightshiftError INVALID_ARGUMENT; CONTEXT_IRREDUCIBLE when not even the smallest view fits the model;
   *   CONFLICT when the key was used for another request; NOT_FOUND for an unknown parent
   */
  async create(team: string, request: task.CreateRequest): Promise<{ row: TaskRow; existing: boolean }> {
    const id = v7();
    const details = storable(draftDetails(request, v7(), this.defaults.chain));
    const key = cleanText(request.idempotencyKey);
    const digest = createHash('sha256')
      .update(toBinary(task.CreateRequestSchema, { ...request, idempotencyKey: '' }))
      .digest('hex');
    const known = await this.known(team, key, digest);
    if (known) return { row: known, existing: true };
    const parent = request.parentId === '' ? undefined : await this.tasks.get(team, request.parentId);
    const rootId = parent?.rootId ?? id;
    const window = await this.window(team, details.chain[0]);
    const goal = await this.spilledGoal(team, id, rootId, details, window);
    const text = firstMessage(goal, details);
    const figures = this.checkedFigures(id, team, details, text, window);
    const created = await transaction(this.pool, (client) =>
      this.insert(client, { team, id, rootId, parentId: parent?.id, details, text, request, digest, figures, key }),
    );
    if (!created) {
      const raced = await this.known(team, key, digest);
      if (raced) return { row: raced, existing: true };
      throw new NightshiftError('UNAVAILABLE', 'the idempotency key is being used by another request');
    }
    await this.committed.after(nothing, created);
    return { row: created.row, existing: false };
  }

  private async known(team: string, key: string, digest: string): Promise<TaskRow | undefined> {
    if (key === '') return undefined;
    const { rows } = await this.pool.query<{ task_id: string; request_sha256: string }>(
      'SELECT task_id, request_sha256 FROM task_idempotency_keys WHERE team_id = $1 AND key = $2',
      [team, key],
    );
    const found = rows[0];
    if (!found) return undefined;
    if (found.request_sha256 !== digest) {
      throw new NightshiftError('CONFLICT', 'this idempotency key was used for another request');
    }
    return this.tasks.get(team, found.task_id);
  }

  /** The start of a task may load a local model, so that its served window is known before the first call. */
  private async window(team: string, candidate: ChainCandidate | undefined): Promise<compaction.ModelWindow> {
    const { provider, model, endpoint } = candidate ?? { provider: '', model: '', endpoint: '' };
    const local = this.windows.get(provider, endpoint, model, team);
    if (!local.unknown && !local.notLoaded) return local;
    try {
      const reply = await this.bus.request(
        routes.windowResolve,
        { provider, model, endpoint, probe: true, mayLoad: true },
        { team, deadlineMs: probeMs },
      );
      return reply.window ?? local;
    } catch (error) {
      // Every later iteration reads the window afresh, so a late one takes effect then.
      this.logger.info({ error, provider, model }, 'the window of a model was not known in time');
      return local;
    }
  }

  private async spilledGoal(
    team: string,
    taskId: string,
    rootId: string,
    details: TaskDetails,
    window: compaction.ModelWindow,
  ): Promise<string> {
    if (!spillsFirstMessage(estimateText(details.goal), hardLimitOf(window.window, window.inputMax))) return details.goal;
    const stored = await this.bus.request(
      routes.toolresultPut,
      { rootId, taskId, tool: 'goal', content: new TextEncoder().encode(details.goal), mediaType: 'text/plain' },
      { team },
    );
    return previewOf({ text: details.goal, storedId: stored.id, maxChars: firstMessagePreviewChars });
  }

  /** Sizes of the task as it starts. @throws NightshiftError CONTEXT_IRREDUCIBLE */
  private checkedFigures(id: string, team: string, details: TaskDetails, text: string, window: compaction.ModelWindow): Figures {
    const row = newRow({ team, id, rootId: id, parentId: undefined, text, hasWorkspace: false, maxIterations: 1 });
    const candidate = details.chain[0] ?? { provider: '', model: '', endpoint: '' };
    const { threshold, shown } = contextOf(row, prepare(details), candidate, window);
    if (!threshold.irreducible) return shown;
    throw new NightshiftError(
      'CONTEXT_IRREDUCIBLE',
      `${candidate.provider}/${candidate.model}: ${threshold.irreducible.message}`,
      {
        details: { ...threshold.irreducible.parts, window: window.window, smallestWindow: threshold.irreducible.smallestWindow },
      },
    );
  }

  private async insert(client: PoolClient, draft: Draft): Promise<Recorded | undefined> {
    const { team, id, details, request, text } = draft;
    const maxIterations = storableInt(request.options?.maxIterations || defaultMaxIterations);
    const fresh = newRow({ ...draft, hasWorkspace: details.workspace !== undefined, maxIterations });
    const row = { ...fresh, memory: { ...fresh.memory, figures: draft.figures } };
    if (draft.key !== '') {
      const { rowCount } = await client.query(
        'INSERT INTO task_idempotency_keys (team_id, key, task_id, request_sha256) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
        [team, draft.key, id, draft.digest],
      );
      if (rowCount === 0) return undefined;
    }
    await client.query({
      name: 'insert_task',
      text: `INSERT INTO tasks (team_id, id, parent_id, root_id, state, pending, memory) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      values: [team, id, row.parentId ?? null, row.rootId, row.state, row.pending, JSON.stringify(row.memory)],
    });
    await client.query({
      name: 'insert_details',
      text: `INSERT INTO task_details (team_id, task_id, goal, created_by, criteria, plan, chain, options, workspace)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      values: [
        team,
        id,
        details.goal,
        details.createdBy,
        JSON.stringify(details.criteria),
        JSON.stringify(details.plan),
        JSON.stringify(details.chain),
        JSON.stringify(details.options),
        JSON.stringify(details.workspace ?? null),
      ],
    });
    const body: transcript.Entry['body'] = {
      case: 'user',
      value: userMessage([create(transcript.PartSchema, { kind: { case: 'text', value: text } })], transcript.UserOrigin.GOAL),
    };
    return this.committed.recordLocked(client, row, {
      ...nothing,
      entries: [{ body, estimate: estimate(body) }],
      events: [
        { kind: 'task_created', data: { goal: text.slice(0, 500), createdBy: details.createdBy, parentId: row.parentId } },
      ],
    });
  }
}

interface Draft {
  readonly team: string;
  readonly id: string;
  readonly rootId: string;
  readonly parentId: string | undefined;
  readonly details: TaskDetails;
  readonly text: string;
  readonly request: task.CreateRequest;
  readonly digest: string;
  readonly figures: Figures;
  readonly key: string;
}

function newRow(
  draft: Pick<Draft, 'team' | 'id' | 'rootId' | 'parentId' | 'text'> & { hasWorkspace: boolean; maxIterations: number },
): TaskRow {
  return {
    teamId: draft.team,
    id: draft.id,
    parentId: draft.parentId !== undefined && isUuid(draft.parentId) ? draft.parentId : undefined,
    rootId: draft.rootId,
    state: task.TaskState.RUNNING,
    pending: task.Pending.STEP,
    reason: '',
    epoch: 0,
    dueAt: undefined,
    publishCount: 0,
    stepAttempts: 0,
    generation: 0,
    lastSeq: 0,
    lastEventSeq: 0,
    iterations: 0,
    toolCalls: 0,
    thresholdHits: 0,
    chainPosition: 0,
    passId: undefined,
    detailsVersion: 1,
    pauseRequested: false,
    compactRequested: false,
    memory: newMemory(draft.maxIterations, draft.hasWorkspace, estimateText(draft.text)),
    inbox: false,
    createdAt: 0,
    updatedAt: 0,
    endedAt: undefined,
  };
}
