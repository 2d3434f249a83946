import { Injectable } from '@nestjs/common';
import type { LedgerCall } from '../tools/call.store';
import { CallStore } from '../tools/call.store';

const handlePattern = /\bcmd_\w+\b/;

/**
 * Background commands that still run as far as the ledger knows: started, not stopped, and last seen running. Pure.
 * @param calls of run_command, command_output and stop_command, in order
 */
export function liveHandles(
  calls: readonly Pick<LedgerCall, 'tool' | 'state' | 'argumentsJson' | 'result'>[],
): ReadonlyMap<string, string> {
  const live = new Map<string, string>();
  for (const call of calls) {
    if (call.state !== 'finished') continue;
    const text = call.result?.parts.flatMap(({ kind }) => (kind.case === 'text' ? [kind.value] : [])).join('') ?? '';
    const given = argumentsOf(call.argumentsJson);
    const handle = call.tool === 'run_command' ? handlePattern.exec(text)?.[0] : given.handle;
    if (handle === undefined) continue;
    if (call.tool === 'run_command' && given.background) live.set(handle, given.command ?? '');
    if (call.tool === 'stop_command') live.delete(handle);
    if (call.tool === 'command_output' && !text.trimEnd().endsWith(`[${handle} is running]`)) live.delete(handle);
  }
  return live;
}

function argumentsOf(json: string): { handle?: string; command?: string; background?: boolean } {
  try {
    return JSON.parse(json) as { handle?: string; command?: string; background?: boolean };
  } catch {
    // A call with broken arguments was never run.
    return {};
  }
}

/** What a task must not forget that it holds: its background commands. */
@Injectable()
export class Handles {
  constructor(private readonly calls: CallStore) {}

  async live(team: string, task: string): Promise<{ kind: string; label: string; text: string }[]> {
    const live = liveHandles(await this.calls.ofTools(team, task, ['run_command', 'command_output', 'stop_command'], 500));
    if (live.size === 0) return [];
    const lines = [...live].map(([handle, command]) => `${handle}: ${command.slice(0, 200)}`);
    return [{ kind: 'handles', label: 'background commands', text: lines.join('\n') }];
  }
}
