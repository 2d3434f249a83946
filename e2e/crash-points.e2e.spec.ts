import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeWorkspace, startSmallStack, submit, untilEnded } from './small-task';

/** Each window is a named point; the process is killed there once, restarted by its supervisor, and nothing is lost or repeated. */
describe('a process dies', () => {
  it.each([
    ['after recording an outcome, before publishing the wake-up', 'orchestrator', 'orchestrator.recorded:6'],
    ['inside a model call', 'provider-gateway', 'gateway-inside-call:4'],
    ['inside a tool call', 'tool-runner', 'tool-running:3'],
  ] as const)('%s', async (_window, service, point) => {
    const calls = 12;
    const stack = await startSmallStack({ calls, tools: 'write_file,read_file' }, { env: { [service]: { CRASH_POINT: point } } });
    try {
      const directory = makeWorkspace(stack, 'crash');
      const { id } = await submit(stack, { goal: 'Survive.', criteria: ['done'], workspace: { directory, mode: 'in_place' } });
      const task = await untilEnded(stack, id);
      expect(existsSync(path.join(stack.folder, `crashed-${service}`))).toBe(true);
      expect(stack.service(service).restarts()).toBe(1);
      expect({ state: task.state, open: task.criteria.filter(({ done }) => !done).length }).toEqual({
        state: 'completed',
        open: 0,
      });

      const { body } = await stack.api('GET', `/v1/tasks/${id}/tool-calls`);
      const { calls: ledger } = body as { calls: { tool: string; state: string; argumentsJson: string }[] };
      const writes = ledger.filter(({ tool }) => tool === 'write_file');
      // No call twice: each write has a path of its own, and each file holds what its call said.
      expect(new Set(writes.map(({ argumentsJson }) => argumentsJson)).size).toBe(writes.length);
      for (const { argumentsJson } of writes) {
        const { path: name, content } = JSON.parse(argumentsJson) as { path: string; content: string };
        expect(readFileSync(path.join(directory, name), 'utf8')).toBe(content);
      }
    } finally {
      await stack.stop();
    }
  });
});
