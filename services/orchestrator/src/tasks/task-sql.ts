import type { QueryResultRow } from '@nightshift/db';
import type { Memory, TaskRow } from './task-row';

/**
 * True while somebody works on the row: the lease time itself, or the heartbeat of its owner. Both by the database clock.
 * One heartbeat row per process instead of one update per task and interval.
 */
export const leaseLive = `(tasks.lease_owner IS NOT NULL AND (tasks.lease_until > now() OR EXISTS (
  SELECT 1 FROM worker_heartbeats h WHERE h.owner = tasks.lease_owner AND h.alive_until > now())))`;

/** Terminal states are immutable: every update of a task carries this. */
export const notEnded = `tasks.state NOT IN (6, 7, 8)`;

/** Every column, and whether messages wait. `RETURNING` and `SELECT` of a task use this. */
export const taskColumns = `tasks.*, EXISTS (SELECT 1 FROM task_inbox i
  WHERE i.team_id = tasks.team_id AND i.task_id = tasks.id AND i.delivered_seq IS NULL) AS inbox`;

export interface TaskRecord extends QueryResultRow {
  team_id: string;
  id: string;
  parent_id: string | null;
  root_id: string;
  state: number;
  pending: number;
  reason: string;
  epoch: number;
  due_at: Date | null;
  publish_count: number;
  step_attempts: number;
  generation: number;
  last_seq: number;
  last_event_seq: number;
  iterations: number;
  tool_calls: number;
  threshold_hits: number;
  chain_position: number;
  pass_id: string | null;
  details_version: number;
  pause_requested: boolean;
  compact_requested: boolean;
  memory: Memory;
  inbox: boolean;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
}

export function rowOf(record: TaskRecord): TaskRow {
  return {
    teamId: record.team_id,
    id: record.id,
    parentId: record.parent_id ?? undefined,
    rootId: record.root_id,
    state: record.state,
    pending: record.pending,
    reason: record.reason,
    epoch: record.epoch,
    dueAt: record.due_at?.getTime(),
    publishCount: record.publish_count,
    stepAttempts: record.step_attempts,
    generation: record.generation,
    lastSeq: record.last_seq,
    lastEventSeq: record.last_event_seq,
    iterations: record.iterations,
    toolCalls: record.tool_calls,
    thresholdHits: record.threshold_hits,
    chainPosition: record.chain_position,
    passId: record.pass_id ?? undefined,
    detailsVersion: record.details_version,
    pauseRequested: record.pause_requested,
    compactRequested: record.compact_requested,
    memory: record.memory,
    inbox: record.inbox,
    createdAt: record.created_at.getTime(),
    updatedAt: record.updated_at.getTime(),
    endedAt: record.ended_at?.getTime(),
  };
}
