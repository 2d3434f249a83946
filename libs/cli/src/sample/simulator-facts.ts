import { existsSync, readFileSync } from 'node:fs';

/** A line of the simulator's request log, as far as it is read here. */
interface Line {
  model: string;
  purpose: string;
  status: number;
  window?: number;
  calls?: string[];
  ended: string;
  sha256: string;
}

export interface SimulatorFacts {
  /** Model → the window that it enforced. */
  windows: Record<string, number>;
  /** Tool calls that the scripts asked for; a request that was made again after a crash counts once. */
  toolCalls: number;
  /** Requests for a turn that were refused with 429 and then answered by another model. */
  movedByRateLimit: number;
  /** Answered requests for a summary. */
  summaries: number;
}

export function simulatorFacts(file: string): SimulatorFacts {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').flatMap(parse) : [];
  const windows: Record<string, number> = {};
  for (const line of lines) if (line.window !== undefined) windows[line.model] = line.window;
  const answered = lines.filter((line) => line.status === 200 && line.ended === 'complete');
  const turns = new Map(answered.filter((line) => line.purpose === 'turn').map((line) => [line.sha256, line.calls ?? []]));
  return {
    windows,
    toolCalls: [...turns.values()].reduce((sum, calls) => sum + calls.length, 0),
    movedByRateLimit: lines.filter((line, index) => isMove(line, lines.slice(index + 1))).length,
    summaries: new Set(answered.filter((line) => line.purpose === 'summary').map((line) => line.sha256)).size,
  };
}

function isMove(line: Line, after: readonly Line[]): boolean {
  if (line.status !== 429) return false;
  const next = after.find((one) => one.status === 200 && one.purpose === line.purpose);
  return next !== undefined && next.model !== line.model;
}

function parse(text: string): Line[] {
  if (text === '') return [];
  try {
    return [JSON.parse(text) as Line];
  } catch {
    // The last line of a killed process.
    return [];
  }
}
