import type { tool } from '@nightshift/contracts';
import type { Answer, Seen } from '../tools/tool';

const maxTasks = 2_000;

/**
 * What tasks saw last, ahead of the orchestrator's record: an edit may follow a read so closely that its claim is answered
 * before the read's result is recorded.
 */
export class SeenFiles {
  private readonly tasks = new Map<string, Map<string, string>>();

  /** Path → hash, newest knowledge first. */
  lastSeen(team: string, taskId: string, recorded: ReadonlyMap<string, Seen>): Map<string, string> {
    const merged = new Map([...recorded].map(([path, seen]) => [path, seen.sha256]));
    for (const [path, sha256] of this.tasks.get(`${team}/${taskId}`) ?? []) merged.set(path, sha256);
    return merged;
  }

  learn(team: string, taskId: string, answer: Answer): void {
    if (answer.seen.length === 0) return;
    const key = `${team}/${taskId}`;
    const files = this.tasks.get(key) ?? new Map<string, string>();
    for (const { path, sha256 } of answer.seen) files.set(path, sha256);
    this.tasks.delete(key);
    this.tasks.set(key, files);
    for (const oldest of this.tasks.keys()) {
      if (this.tasks.size <= maxTasks) break;
      this.tasks.delete(oldest);
    }
  }

  forget(team: string, taskId: string): void {
    this.tasks.delete(`${team}/${taskId}`);
  }
}

export function recordedOf(seen: readonly tool.SeenFile[]): Map<string, Seen> {
  return new Map(seen.map((file) => [file.path, file]));
}
