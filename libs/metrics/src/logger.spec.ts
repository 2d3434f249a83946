import { createLogger, createScrubber } from './index';

function logged(work: (log: ReturnType<typeof createLogger>) => void, secrets: string[] = []): Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLogger({ service: 'api', instance: 'i1', level: 'info', secrets, write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the logger', () => {
  it('writes one JSON line per event, with service, level as text and ISO time', () => {
    const [line, ...rest] = logged((log) => {
      log.debug('not shown');
      log.info({ task_id: 't1' }, 'step done');
    });
    expect(rest).toEqual([]);
    expect(line).toMatchObject({ level: 'info', service: 'api', instance: 'i1', task_id: 't1', msg: 'step done' });
    expect(line!['time']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('removes secrets by name, at the top and inside objects', () => {
    const [line] = logged((log) =>
      log.info(
        {
          authorization: 'Basic a',
          request: { headers: { 'x-api-key': 'b', cookie: 'c', accept: 'd' } },
          config: { password: 'e' },
        },
        'm',
      ),
    );
    expect(line).toMatchObject({
      authorization: '******',
      request: { headers: { 'x-api-key': '******', cookie: '******', accept: 'd' } },
      config: { password: '******' },
    });
  });

  it('removes secrets by value, wherever they appear: messages, stacks, URLs', () => {
    const error = new Error('POST https://host/v1?key=known-secret-value failed');
    const [line] = logged((log) => log.error({ error }, 'sent known-secret-value'), ['known-secret-value']);
    expect(JSON.stringify(line)).not.toContain('known-secret-value');
    expect(line!['msg']).toBe('sent ******');
  });

  it('keeps the fields of an error, code included', () => {
    const [line] = logged((log) => log.error({ error: Object.assign(new Error('boom'), { code: 'BUSY' }) }, 'm'));
    expect(line!['error']).toMatchObject({ type: 'Error', message: 'boom', code: 'BUSY' });
  });
});

describe('createScrubber', () => {
  it.each([
    [`sk-${'ant-'.repeat(5)}`, '******'],
    ['Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.x', 'Authorization: ******'],
    ['https://host/v1beta/models?key=AIzaSyA1234567&alt=sse', 'https://host/v1beta/models?key=******&alt=sse'],
    ['postgresql://nightshift:hunter2@db:5432/x', 'postgresql://nightshift:******@db:5432/x'],
    ['AKIAIOSFODNN7EXAMPLE', '******'],
    ['a task-id 0190-aaaa and sk-short', 'a task-id 0190-aaaa and sk-short'],
  ])('cleans what looks like a key: %s', (line, clean) => {
    expect(createScrubber([])(line)).toBe(clean);
  });

  it('finds a known value also as JSON and URL wrote it, the longest first', () => {
    const scrub = createScrubber(['pa"ss/word', 'pa"ss/word-long']);
    expect(scrub(JSON.stringify({ a: 'pa"ss/word-long' }))).toBe('{"a":"******"}');
    expect(scrub(`u=${encodeURIComponent('pa"ss/word')}`)).toBe('u=******');
  });
});
