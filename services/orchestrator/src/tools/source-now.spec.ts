import { NightshiftError } from '@nightshift/contracts';
import type { Bus } from '@nightshift/bus';
import { createLogger } from '@nightshift/metrics';
import type { TaskDetails } from '../tasks/task-details';
import { SourceNow } from './source-now';

const logger = createLogger({ service: 'orchestrator', level: 'silent' });
const workspace = { id: 'w1', runner: 'r1' } as NonNullable<TaskDetails['workspace']>;
const reply = { sourcePath: 'a.txt', sourceSha256: 'then' };
type File = { sha256: string; unreadable: boolean };

/** The runner of the workspace, as far as it is asked. */
const runner = (answer: () => File[]) => {
  const asked: unknown[] = [];
  const request = (...args: unknown[]): Promise<{ files: File[] }> => {
    asked.push(args[2]);
    return Promise.resolve().then(() => ({ files: answer() }));
  };
  return { asked, sources: new SourceNow({ request } as unknown as Bus, logger) };
};

describe('the source of a stored result', () => {
  it.each<[string, () => File[], string]>([
    ['the same file', () => [{ sha256: 'then', unreadable: false }], 'unchanged'],
    ['another content', () => [{ sha256: 'now', unreadable: false }], 'changed'],
    ['nothing to read', () => [{ sha256: '', unreadable: true }], 'gone'],
    ['an answer without a hash', () => [{ sha256: '', unreadable: false }], 'unknown'],
    ['no file at all', () => [], 'unknown'],
    [
      'a runner that is away',
      () => {
        throw new NightshiftError('UNAVAILABLE', 'nobody answers');
      },
      'unknown',
    ],
  ])('%s', async (_title, answer, expected) => {
    const { asked, sources } = runner(answer);
    expect(await sources.of('acme', workspace, reply)).toBe(expected);
    expect(asked).toEqual([{ team: 'acme', key: 'r1', deadlineMs: 2_000 }]);
  });

  it.each([
    ['a result that came from no file', workspace, { sourcePath: '', sourceSha256: '' }],
    ['a task without a workspace', undefined, reply],
  ])('nobody is asked for %s', async (_title, of, given) => {
    const { asked, sources } = runner(() => []);
    expect(await sources.of('acme', of, given)).toBe('unknown');
    expect(asked).toEqual([]);
  });
});
