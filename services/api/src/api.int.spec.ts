import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { Controller, Module } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { Bus, BusContext, startService, type RunningService } from '@nightshift/bus';
import { loadConfig, parseNightshiftFile, serviceSettings } from '@nightshift/config';
import { llm, NightshiftError, routes, task } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { v7 } from 'uuid';
import { apiService } from './api.service';
import { BootstrapRunner } from './auth/bootstrap.runner';
import { hashOf } from './auth/keys';
import { KeysStore } from './auth/keys.store';
import { ApiConfig, readConfig } from './config';
import { endpoints } from './docs/endpoints';

const bootstrapKey = `nsk_${Buffer.alloc(32, 1).toString('base64url')}`;

const noFile = parseNightshiftFile('', 'none');

interface Kept {
  team: string;
  task: task.Task;
  events: task.TaskEvent[];
  key: string;
}

/** The orchestrator's side of the wire, as its contract says. */
const kept = new Map<string, Kept>();
const heard: Array<{ what: string; team: string; body: object }> = [];

function find(team: string, id: string): Kept {
  const found = kept.get(id);
  if (!found || found.team !== team) throw new NightshiftError('NOT_FOUND', `there is no task ${id}`);
  return found;
}

@Controller()
class OrchestratorSide {
  @MessagePattern(routes.taskCreate.subject)
  async create(@Payload() m: task.CreateRequest, @Ctx() ctx: BusContext) {
    heard.push({ what: 'create', team: ctx.team, body: m });
    const before = [...kept.values()].find((one) => one.team === ctx.team && one.key === m.idempotencyKey);
    if (before) return { task: before.task, existing: true };
    const made = create(task.TaskSchema, { id: v7(), teamId: ctx.team, goal: m.goal, state: task.TaskState.RUNNING });
    kept.set(made.id, { team: ctx.team, task: made, events: [], key: m.idempotencyKey });
    return { task: made };
  }

  @MessagePattern(routes.taskGet.subject)
  async get(@Payload() m: task.GetRequest, @Ctx() ctx: BusContext) {
    return { task: find(ctx.team, m.taskId).task };
  }

  @MessagePattern(routes.taskList.subject)
  async list(@Ctx() ctx: BusContext) {
    return { tasks: [...kept.values()].filter((one) => one.team === ctx.team).map((one) => one.task) };
  }

  @MessagePattern(routes.taskSend.subject)
  async send(@Payload() m: task.SendRequest, @Ctx() ctx: BusContext) {
    heard.push({ what: 'send', team: ctx.team, body: m });
    return { task: find(ctx.team, m.taskId).task };
  }

  @MessagePattern(routes.taskCancel.subject)
  async cancel(@Payload() m: task.CancelRequest, @Ctx() ctx: BusContext) {
    const one = find(ctx.team, m.taskId);
    one.task = create(task.TaskSchema, { ...one.task, state: task.TaskState.CANCELLING, reason: m.reason });
    return { task: one.task };
  }

  @MessagePattern(routes.taskEvents.subject)
  async events(@Payload() m: task.EventsRequest, @Ctx() ctx: BusContext) {
    const one = find(ctx.team, m.taskId);
    const after = one.events.filter((event) => event.seq > m.afterSeq);
    const events = after.slice(0, 2);
    return { events, more: after.length > events.length, ended: one.task.state === task.TaskState.COMPLETED };
  }
}

@Module({ controllers: [OrchestratorSide] })
class OrchestratorSideModule {}

async function record(bus: Bus, id: string, kind: string, state?: task.TaskState): Promise<void> {
  const one = kept.get(id)!;
  const seq = one.events.length + 1;
  one.events.push(create(task.TaskEventSchema, { seq, taskId: id, kind, atMs: 1n, dataJson: '{"n":1}' }));
  if (state) one.task = create(task.TaskSchema, { ...one.task, state });
  await bus.event(routes.taskChanged, { taskId: id, lastEventSeq: seq }, { team: one.team, messageId: v7() });
}

const nats = withNats();
const database = withDatabase();
let api: RunningService;
let other: RunningService;
let base = '';

beforeAll(async () => {
  const env = { NATS_URL: nats.url, LOG_LEVEL: 'silent', ACK_WAIT_MS: '5000', DATABASE_URL: database.url };
  other = await startService({
    service: 'orchestrator',
    module: OrchestratorSideModule,
    config: loadConfig(serviceSettings, env),
    partial: true,
  });
  const settings = { API_PORT: '0', API_MAX_BODY_BYTES: '4096', BOOTSTRAP_KEY: bootstrapKey };
  api = await startService(apiService(readConfig({ ...env, ...settings })));
  base = `http://127.0.0.1:${api.httpPort}`;
});

afterAll(async () => {
  await api?.stop();
  await other?.stop();
});

interface Answer {
  status: number;
  type: string;
  headers: Headers;
  json: Record<string, never> & { [key: string]: never };
}

async function call(
  method: string,
  path: string,
  options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
) {
  const { key = bootstrapKey, body, headers } = options;
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Answer['json'];
  return { status: response.status, type: response.headers.get('content-type') ?? '', headers: response.headers, json, text };
}

const valid = { goal: 'fix it', models: ['sim/a'] };
async function newTask(key = bootstrapKey): Promise<string> {
  return (await call('POST', '/v1/tasks', { key, body: valid })).json['id'] as unknown as string;
}

/** A key of a team of its own. */
async function foreignKey(): Promise<string> {
  const token = `nsk_${Buffer.from(v7().replaceAll('-', '')).toString('base64url').slice(0, 43)}`;
  await database.pool.query(`insert into teams values ('other', 'other', 0) on conflict do nothing`);
  await database.pool.query(
    `insert into api_keys (team_id, id, name, prefix, hash, role, created_at_ms) values ('other', $1, 'k', 'p', $2, 'admin', 0)`,
    [v7(), hashOf(token)],
  );
  return token;
}

describe('keys', () => {
  it('lets nobody in without a valid key, before anything is read', async () => {
    for (const key of ['', 'nonsense', `nsk_${'A'.repeat(43)}`]) {
      const answer = await call('POST', '/v1/tasks', { key, body: 'not json' });
      expect(answer.status).toBe(401);
      expect(answer.type).toContain('application/problem+json');
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    }
    expect((await call('GET', '/v1/tasks', { key: '', headers: { 'x-api-key': bootstrapKey } })).status).toBe(200);
  });

  it('makes, lists and revokes keys, showing each once, and records who did it', async () => {
    const made = await call('POST', '/v1/keys', { body: { name: 'ci', role: 'reader' } });
    expect(made.status).toBe(201);
    const { key, id } = made.json as unknown as { key: string; id: string };
    const listed = await call('GET', '/v1/keys');
    expect(listed.text).toContain(id);
    expect(listed.text).not.toContain(key);
    const stored = await database.pool.query('select * from api_keys where id = $1', [id]);
    expect(JSON.stringify(stored.rows)).not.toContain(key);

    expect((await call('GET', '/v1/tasks', { key })).status).toBe(200);
    expect((await call('POST', '/v1/tasks', { key, body: valid })).status).toBe(403);
    expect((await call('GET', '/v1/keys', { key })).status).toBe(403);
    expect((await call('DELETE', `/v1/keys/${id}`)).status).toBe(204);
    expect((await call('GET', '/v1/tasks', { key })).status).toBe(401);
    const audited = await database.pool.query('select action from audit_events where target = $1 order by id', [id]);
    expect(audited.rows.map((row: { action: string }) => row.action)).toEqual(['key.create', 'key.revoke']);
  });
});

describe('bodies', () => {
  it('lists every fault of an invalid body', async () => {
    const answer = await call('POST', '/v1/tasks', { body: { goal: '', models: ['nope'], criteria: [1], extra: true } });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      code: 'INVALID_ARGUMENT',
      instance: '/v1/tasks',
      faults: [
        expect.stringMatching(/^goal: /),
        expect.stringMatching(/^criteria\.0: /),
        expect.stringMatching(/^models\.0: /),
        expect.stringMatching(/extra/),
      ],
    });
  });

  it.each([
    ['what is not JSON', '{', 'application/json', 400],
    ['another media type', 'a=b', 'application/x-www-form-urlencoded', 400],
  ])('refuses %s', async (_, body, type, status) => {
    const answer = await call('POST', '/v1/tasks', { body, headers: { 'content-type': type } });
    expect(answer.status).toBe(status);
    expect((answer.json as unknown as { faults: string[] }).faults).toHaveLength(1);
  });

  it('names the limit of a body that is too large', async () => {
    const answer = await call('POST', '/v1/tasks', { body: { ...valid, goal: 'x'.repeat(5000) } });
    expect(answer.status).toBe(413);
    expect(answer.json).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', details: { limitBytes: 4096 } });
    expect(answer.text).toContain('4096');
  });

  it('takes an empty body with a content type', async () => {
    const id = await newTask();
    expect(
      (await call('POST', `/v1/tasks/${id}/cancel`, { body: '', headers: { 'content-type': 'application/json' } })).status,
    ).toBe(202);
  });
});

describe('tasks', () => {
  it('starts a task for the team of the key and gives it back', async () => {
    const answer = await call('POST', '/v1/tasks', { body: valid });
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({ teamId: 'default', goal: 'fix it', state: 'running' });
    const id = answer.json['id'] as unknown as string;
    expect((await call('GET', `/v1/tasks/${id}`)).json).toMatchObject({ id });
    expect((await call('GET', '/v1/tasks')).text).toContain(id);
  });

  it('gives the same task for the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [first, second] = await Promise.all([
      call('POST', '/v1/tasks', { body: valid, headers }),
      call('POST', '/v1/tasks', { body: valid, headers }),
    ]);
    expect(second.json.id).toBe(first.json.id);
  });

  it('answers 404 for a task that is unknown, of another team, or no id at all, on every operation', async () => {
    const foreign = await foreignKey();
    const mine = await newTask();
    for (const [id, key] of [
      [mine, foreign],
      [v7(), bootstrapKey],
      ['nonsense', bootstrapKey],
    ] as const) {
      const get = await call('GET', `/v1/tasks/${id}`, { key });
      expect([get.status, get.json.code]).toEqual([404, 'NOT_FOUND']);
      expect((await call('POST', `/v1/tasks/${id}/cancel`, { key, body: {} })).status).toBe(404);
      expect((await call('POST', `/v1/tasks/${id}/messages`, { key, body: { text: 'x' } })).status).toBe(404);
      expect((await call('GET', `/v1/tasks/${id}/events`, { key })).status).toBe(404);
    }
  });

  it('says so when the service behind is away, and when there is no such operation', async () => {
    // Nobody plays the registry here.
    expect((await call('GET', '/v1/models')).status).toBe(503);
    const unknown = await call('GET', '/v1/nothing');
    expect([unknown.status, unknown.type]).toEqual([404, expect.stringContaining('problem+json')]);
  });
});

describe('the event stream', () => {
  /** Reads frames until `until` appears. */
  async function read(path: string, until: string, headers: Record<string, string> = {}): Promise<string> {
    const stop = new AbortController();
    const response = await fetch(base + path, {
      headers: { authorization: `Bearer ${bootstrapKey}`, ...headers },
      signal: stop.signal,
    });
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(piece, { stream: true });
      if (text.includes(until)) break;
    }
    stop.abort();
    return text;
  }
  const ids = (text: string): string[] => [...text.matchAll(/^id: (\d+)$/gm)].map((match) => match[1]!);

  it('replays, follows and ends with the task', async () => {
    const id = await newTask();
    for (const kind of ['a', 'b', 'c']) await record(other.bus, id, kind);
    const reading = read(`/v1/tasks/${id}/events`, 'event: end');
    await eventually(() => api.metrics.text().then((text) => /nightshift_sse_streams(\{[^}]*\})? 1/.test(text)));
    await record(other.bus, id, 'd');
    await record(other.bus, id, 'finished', task.TaskState.COMPLETED);
    const text = await reading;
    expect(ids(text)).toEqual(['1', '2', '3', '4', '5']);
    expect(text).toContain('event: task\ndata: {"seq":1,"atMs":1,"taskId":');
    expect(text).toMatch(/event: end\ndata: .*"state":"completed"/);
  });

  it('goes on after Last-Event-ID or ?after=', async () => {
    const id = await newTask();
    for (const kind of ['a', 'b', 'c']) await record(other.bus, id, kind);
    await record(other.bus, id, 'finished', task.TaskState.COMPLETED);
    expect(ids(await read(`/v1/tasks/${id}/events?after=2`, 'event: end'))).toEqual(['3', '4']);
    const headers = { 'last-event-id': '3' };
    expect(ids(await read(`/v1/tasks/${id}/events?after=1`, 'event: end', headers))).toEqual(['4']);
  });

  it('shows pieces on their way as events of their own, without an id', async () => {
    const id = await newTask();
    const reading = read(`/v1/tasks/${id}/events`, 'event: delta');
    const timer = setInterval(() => {
      const kind = { case: 'text' as const, value: 'hel' };
      other.bus.live(routes.liveDelta, { taskId: id, kind }, { team: 'default', task: id });
    }, 20);
    const text = await reading.finally(() => clearInterval(timer));
    expect(text).toMatch(/event: delta\ndata: \{"taskId":"[^"]+","epoch":0,"text":"hel"/);
    expect(ids(text)).toEqual([]);
    expect(llm.DeltaSchema.typeName).toBe('nightshift.llm.v1.Delta');
  });
});

describe('the operations', () => {
  it('are exactly those of the table', async () => {
    const document = (await call('GET', '/openapi.json', { key: '' })).json as unknown as { paths: Record<string, object> };
    expect(Object.keys(document.paths)).toHaveLength(new Set(endpoints.map((endpoint) => endpoint.path)).size);
    for (const endpoint of endpoints) {
      const answer = await call(endpoint.method, endpoint.path.replaceAll(/:\w+/g, v7()), { key: '' });
      expect([endpoint.id, answer.status]).toEqual([endpoint.id, endpoint.role === 'public' ? 200 : 401]);
    }
  });

  it('survives bytes that are no HTTP', async () => {
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: api.httpPort! }, () => socket.end('\0\0\0 nonsense\r\n\r\n'));
      socket.on('close', () => resolve()).on('error', reject);
      socket.resume();
    });
    await new Promise<void>((resolve, reject) => {
      const asked = httpRequest(`${base}/docs`, (response) => response.resume().on('end', resolve));
      asked.on('error', reject).end();
    });
  });
});

describe('too many requests', () => {
  it('are refused with the time to wait, per key', async () => {
    const { settings, file } = api.get(ApiConfig);
    const slow = await startService(apiService(new ApiConfig({ ...settings, METRICS_PORT: 0, API_RATE_PER_MINUTE: 6 }, file)));
    try {
      const ask = () => fetch(`http://127.0.0.1:${slow.httpPort}/v1/keys`, { headers: { 'x-api-key': bootstrapKey } });
      for (let i = 0; i < 10; i += 1) expect((await ask()).status).toBe(200);
      const refused = await ask();
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
      expect(await refused.json()).toMatchObject({ code: 'BUSY', retryAfterMs: expect.any(Number) });
    } finally {
      await slow.stop();
    }
  });
});

describe('the bootstrap key', () => {
  it('is replaced by the one in its file at SIGHUP, and the lost one is revoked', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-test-key-'));
    const file = path.join(folder, 'admin.key');
    const fresh = `nsk_${Buffer.alloc(32, 9).toString('base64url')}`;
    writeFileSync(file, `${fresh}\n`);
    const runner = new BootstrapRunner(
      api.get(KeysStore),
      new ApiConfig({ ...api.get(ApiConfig).settings, BOOTSTRAP_KEY_FILE: file }, noFile),
      api.logger,
    );
    await runner.onApplicationBootstrap();
    runner.beforeApplicationShutdown();
    expect((await call('GET', '/v1/tasks', { key: fresh })).status).toBe(200);
    expect((await call('GET', '/v1/tasks')).status).toBe(401);
    rmSync(folder, { recursive: true });
  });
});
