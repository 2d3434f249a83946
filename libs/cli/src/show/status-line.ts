import type { TaskJson } from '../client/shapes';
import { grouped } from './numbers';

type Measured = Pick<TaskJson, 'measuredTokens' | 'threshold' | 'effectiveThreshold' | 'window' | 'windowSource'>;

/** "43 120 / 100 000 tokens, window 200 000 (catalogue)": measured, threshold, and the window of the model in use. */
export function tokenLine(task: Measured): string {
  if (task.window === 0) return `${grouped(task.measuredTokens)} tokens, window not read yet`;
  const threshold = task.effectiveThreshold || task.threshold;
  return `${grouped(task.measuredTokens)} / ${grouped(threshold)} tokens, window ${grouped(task.window)} (${task.windowSource})`;
}

/** The line that stays at the bottom while a task is followed. */
export function statusLine(task: TaskJson): string {
  const parts = [task.state, tokenLine(task)];
  if (task.provider) parts.push(`${task.provider}/${task.model}`);
  parts.push(`${task.toolCalls} tool calls`);
  if (task.generation > 0) parts.push(`${task.generation} compaction${task.generation === 1 ? '' : 's'}`);
  const closed = task.criteria.filter((criterion) => criterion.done).length;
  if (task.criteria.length > 0) parts.push(`criteria ${closed}/${task.criteria.length}`);
  return parts.join(' · ');
}
