import { Injectable } from '@nestjs/common';
import { estimatePrefix, estimateText, prefixHash } from '@nightshift/compaction';
import type { transcript } from '@nightshift/contracts';
import type { TaskDetails } from '../tasks/task-details';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { toolSchemas } from '../tools/catalogue';
import { criteriaText, planText } from '../tools/state-tools';
import { systemPrompt } from '../tools/system-prompt';

/** What follows from the details of a task and stays the same until they change. Estimates in tokens. */
export interface Prepared {
  readonly details: TaskDetails;
  readonly system: string;
  readonly tools: readonly transcript.ToolSchema[];
  readonly offered: ReadonlySet<string>;
  readonly prefix: string;
  readonly prefixEstimate: number;
  readonly systemEstimate: number;
  readonly toolsEstimate: number;
  readonly goalAndPlanEstimate: number;
}

/** Pure: derives the prefix of a task's requests and its sizes. */
export function prepare(details: TaskDetails): Prepared {
  const system = systemPrompt(details);
  const tools = toolSchemas(details.options.toolNames, details.workspace !== undefined);
  const systemEstimate = estimateText(system);
  const prefixEstimate = estimatePrefix({ system, tools });
  return {
    details,
    system,
    tools,
    offered: new Set(tools.map(({ name }) => name)),
    prefix: prefixHash({ system, tools }),
    prefixEstimate,
    systemEstimate,
    toolsEstimate: prefixEstimate - systemEstimate,
    goalAndPlanEstimate: estimateText(criteriaText(details.criteria)) + estimateText(planText(details.plan)),
  };
}

/** Tasks whose details are kept; a few KB each. */
const kept = 2_000;

/** Details by task and version: read again only after they changed. */
@Injectable()
export class PreparedTasks {
  private readonly cache = new Map<string, Prepared>();

  constructor(private readonly tasks: TaskStore) {}

  async of(row: TaskRow): Promise<Prepared> {
    const key = `${row.teamId}/${row.id}`;
    const cached = this.cache.get(key);
    if (cached?.details.version === row.detailsVersion) return cached;
    const fresh = prepare(await this.tasks.details(row.teamId, row.id));
    this.cache.delete(key);
    this.cache.set(key, fresh);
    const oldest = this.cache.keys().next();
    if (this.cache.size > kept && !oldest.done) this.cache.delete(oldest.value);
    return fresh;
  }
}
