import { spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dashboards } from '../infra/src/generated-files';
import { prometheusRules } from '../infra/src/prometheus';
import { serviceNames } from '@nightshift/contracts';
import { createMetrics, startOperationsServer, type OperationsServer } from '@nightshift/metrics';
import { eventually, type RunningStack } from '@nightshift/testing';
import { startMonitoring, type Monitoring } from './monitoring';
import { makeWorkspace, startSmallStack, submit, taskOf } from './small-task';

/** Every window of the generated rules divided by this: an hour becomes a minute. */
const divisor = 60;
jest.setTimeout(400_000);

describe('alerts on the running services', () => {
  let stack: RunningStack;
  let monitoring: Monitoring;

  beforeAll(async () => {
    // Every request for a summary is refused in words: passes go on through the model-free tiers and count as failures.
    stack = await startSmallStack({
      calls: 30,
      tools: 'write_file,read_file',
      chars: 9_000,
      window: 32_000,
      summaries: 'refusing',
    });
    monitoring = await startMonitoring({
      rules: prometheusRules(divisor),
      scrape: serviceNames.map((service) => ({
        job_name: `nightshift-${service}`,
        static_configs: [{ targets: [stack.operationsUrl(service).replace('http://', '')] }],
      })),
    });
  });
  afterAll(async () => {
    await monitoring?.stop();
    await stack?.stop();
  });

  it('delivers the failure-ratio alert to the webhook while compactions fail, and its resolution afterwards', async () => {
    const about = (status: string) =>
      monitoring.received.find((alert) => alert.status === status && alert.labels.alertname === 'CompactionFailureRatioFast');
    await eventually(async () => (await monitoring.query('up == 1')).length === serviceNames.length || undefined, {
      timeoutMs: 60_000,
    });
    expect(about('firing')).toBeUndefined();
    const directory = makeWorkspace(stack, 'alerts');
    const tasks = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        submit(stack, {
          goal: `Task ${index}`,
          criteria: ['done'],
          models: ['simulator-anthropic/simulator-small'],
          workspace: { directory: makeWorkspace(stack, `alerts-${index}`), mode: 'in_place' },
        }),
      ),
    );
    expect(directory).toContain('alerts');
    const fired = await eventually(
      async () => {
        const alert = about('firing');
        if (alert) return alert;
        const seen = await Promise.all(
          [
            'sum by (outcome, summary) (nightshift_compaction_passes_total) > 0',
            'nightshift:compaction_failures:ratio_rate1h',
            'nightshift:compaction_failures:ratio_rate5m',
            'nightshift:compaction_passes:increase1h',
            'ALERTS',
          ].map((expr) => monitoring.query(expr)),
        );
        throw new Error(`not fired: ${JSON.stringify(seen)}`);
      },
      { timeoutMs: 100_000, everyMs: 500 },
    );
    expect(fired).toMatchObject({
      labels: { severity: 'page' },
      annotations: { runbook_url: expect.stringMatching(/#compaction-failures$/) },
    });
    // Without summaries a task remembers little; the loop guard may pause it. Either way it stops compacting.
    const quiet = ['completed', 'paused'];
    for (const { id } of tasks)
      await eventually(async () => (quiet.includes((await taskOf(stack, id)).state) ? true : undefined), {
        timeoutMs: 200_000,
        everyMs: 500,
      });
    await eventually(() => about('resolved'), { timeoutMs: 120_000 });
  });

  it.each(serviceNames)('gets metrics from %s that promtool accepts, with all the labels of its work', async (service) => {
    const response = await fetch(`${stack.operationsUrl(service)}/metrics`);
    const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
      input: await response.text(),
      encoding: 'utf8',
    });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  });

  it('has series of the real services behind every panel', async () => {
    const silent: string[] = [];
    for (const [name, build] of Object.entries(dashboards)) {
      for (const panel of build().panels) {
        for (const { expr } of (panel.targets ?? []) as { expr: string }[]) {
          const concrete = expr
            .replaceAll('$__rate_interval', '1m')
            .replaceAll('$__range', '10m')
            .replaceAll(/\$(provider|team)/g, '.*');
          const response = await fetch(`${monitoring.prometheusUrl}/api/v1/query?query=${encodeURIComponent(concrete)}`);
          expect([name, panel.title, response.status]).toEqual([name, panel.title, 200]);
          const { data } = (await response.json()) as { data: { result: unknown[] } };
          if (data.result.length === 0) silent.push(`${name}: ${panel.title}`);
        }
      }
    }
    // Breakers and redeliveries have series once there was one; labels of providers and teams are open.
    expect(silent.filter((panel) => !/[Bb]reaker|Overflows|Error ratio|Redeliveries/.test(panel))).toEqual([]);
  });
});

const asRoot = process.getuid?.() === 0;
if (!asRoot) console.warn('skipped: DNS discovery needs port 53 and a mount namespace (root)');

(asRoot ? describe : describe.skip)('scrape by DNS discovery', () => {
  const replicas = 3;
  const servers: OperationsServer[] = [];
  let dns: Socket;
  let monitoring: Monitoring;
  let folder: string;
  let known = replicas;

  beforeAll(async () => {
    const port = 19_464;
    for (let index = 1; index <= replicas; index += 1) {
      servers.push(
        await startOperationsServer({
          port,
          host: `127.0.9.${index}`,
          metrics: createMetrics('compactor'),
          ready: async () => [],
        }),
      );
    }
    dns = await nameServer('127.0.9.53', () => Array.from({ length: known }, (_, index) => `127.0.9.${index + 1}`));
    folder = mkdtempSync(path.join(tmpdir(), 'nightshift-dns-'));
    writeFileSync(path.join(folder, 'resolv.conf'), 'nameserver 127.0.9.53\n');
    monitoring = await startMonitoring({
      rules: prometheusRules(divisor),
      scrape: [
        {
          job_name: 'nightshift-compactor',
          dns_sd_configs: [{ names: ['compactor.nightshift.test'], type: 'A', port, refresh_interval: '1s' }],
        },
      ],
      // A resolver of its own, seen by this process alone.
      command: (command, args) => [
        'unshare',
        ['-m', 'sh', '-c', 'mount --bind "$0" /etc/resolv.conf && exec "$@"', path.join(folder, 'resolv.conf'), command, ...args],
      ],
    });
  });
  afterAll(async () => {
    await monitoring?.stop();
    dns?.close();
    for (const server of servers) await server.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  it('makes N replicas N targets, and follows when one goes', async () => {
    const targets = async (count: number) =>
      eventually(
        async () =>
          (await monitoring.query('count(up{job="nightshift-compactor"} == 1)'))[0]?.value === count ? true : undefined,
        { timeoutMs: 60_000 },
      );
    await targets(replicas);
    known = replicas - 1;
    await eventually(
      async () => {
        const response = await fetch(`${monitoring.prometheusUrl}/api/v1/targets?state=active`);
        const { data } = (await response.json()) as { data: { activeTargets: unknown[] } };
        return data.activeTargets.length === replicas - 1 ? true : undefined;
      },
      { timeoutMs: 60_000 },
    );
  });

  it('uses the scrape configuration that is shipped', () => {
    const shipped = readFileSync(path.join(__dirname, '../infra/prometheus/prometheus.yml'), 'utf8');
    for (const service of serviceNames) expect(shipped).toContain(`job_name: nightshift-${service}`);
    expect(shipped.match(/dns_sd_configs/g)?.length).toBe(serviceNames.length);
  });
});

/** Answers every A question with the addresses known now. */
function nameServer(host: string, addresses: () => string[]): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    let end = 12;
    while (question[end] !== 0) end += (question[end] ?? 0) + 1;
    const asked = question.subarray(12, end + 5);
    const isA = question.readUInt16BE(end + 1) === 1;
    const found = isA ? addresses() : [];
    const header = Buffer.alloc(12);
    header.writeUInt16BE(question.readUInt16BE(0), 0);
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(found.length, 6);
    const answers = found.map((address) =>
      Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, asked, ...answers]), from.port, from.address);
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, host, () => resolve(socket));
  });
}
