import type { MessageInitShape } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { estimateView, renderView } from '@nightshift/compaction';
import { NightshiftError, fromMs, task } from '@nightshift/contracts';
import { PreparedTasks } from '../steps/prepared';
import { EntryStore } from '../tasks/entry.store';
import { storableInt } from '../tasks/storable';
import { TaskStore } from '../tasks/task.store';
import { activePass } from './active-pass';
import { PassStore } from './pass.store';
import type { PassRow } from './pass.store';

type Generation = MessageInitShape<typeof task.GenerationSchema>;

/** Passes and views of a task, for inspection. */
@Injectable()
export class Generations {
  constructor(
    private readonly tasks: TaskStore,
    private readonly passes: PassStore,
    private readonly entries: EntryStore,
    private readonly prepared: PreparedTasks,
  ) {}

  /** Every ended pass, committed or not, oldest first. */
  async list(team: string, id: string): Promise<Generation[]> {
    const row = await this.tasks.get(team, id);
    const passes = await this.passes.list(team, row.id);
    const active = activePass(passes, row.generation);
    const generations: Generation[] = [];
    for (const pass of passes) {
      const checkpoint = pass.generation === undefined ? undefined : await this.entries.checkpoint(team, row.id, pass.generation);
      generations.push(
        present(pass, pass.generation === active && active > 0, checkpoint?.reinjected.map(({ kind }) => kind) ?? []),
      );
    }
    return generations;
  }

  /** The view of a generation as of its commit; `current`: of now. Generation 0 is what stood before the first pass. */
  async view(team: string, request: task.ViewRequest): Promise<MessageInitShape<typeof task.ViewReplySchema>> {
    const row = await this.tasks.get(team, request.taskId);
    const prepared = await this.prepared.of(row);
    const generation = request.current ? row.generation : storableInt(request.generation);
    if (generation > row.generation) throw new NightshiftError('NOT_FOUND', `task ${row.id} has no generation ${generation}`);
    const passes = await this.passes.list(team, row.id);
    const shown = passes.find((pass) => pass.generation === Math.max(1, generation));
    const through = request.current ? row.lastSeq : (shown?.lastSeq ?? row.lastSeq);
    const { checkpoint, entries } = await this.entries.tailOf(team, row.id, generation, through);
    const view = renderView({ system: prepared.system, tools: prepared.tools, checkpoint, entries });
    return { view, generation, tokens: estimateView(view) };
  }
}

function present(pass: PassRow, active: boolean, reinjected: readonly string[]): Generation {
  const { report } = pass;
  const kinds = [...new Set(reinjected)];
  return {
    generation: pass.generation ?? 0,
    passId: pass.passId,
    reason: pass.reason,
    outcome: pass.outcome,
    tiers: report?.tiers ?? [],
    loss: report?.loss,
    before: report?.before ?? pass.measured,
    after: report?.after ?? 0,
    window: report?.window ?? 0,
    windowSource: report?.windowSource ?? '',
    threshold: report?.threshold ?? 0,
    effectiveThreshold: report?.effectiveThreshold ?? 0,
    provider: report?.provider ?? '',
    model: report?.model ?? '',
    atMs: fromMs(pass.endedAt ?? pass.startedAt),
    active,
    undoes: pass.undoes,
    reinjected: kinds.map((kind) => ({ kind, count: reinjected.filter((one) => one === kind).length })),
    ms: report?.ms ?? 0,
    detail: report?.reason ?? '',
  };
}
