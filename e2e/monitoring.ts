import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort, startChild, type Child } from '@nightshift/local-stack';
import { eventually } from '@nightshift/testing';

export interface ReceivedAlert {
  status: 'firing' | 'resolved';
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface Monitoring {
  prometheusUrl: string;
  /** Every alert that the webhook was told, in order. */
  received: ReceivedAlert[];
  query(expr: string): Promise<{ metric: Record<string, string>; value: number }[]>;
  stop(): Promise<void>;
}

/** The real Prometheus and Alertmanager on free ports, with the given rules, and a webhook that keeps what it is told. */
export async function startMonitoring(options: {
  rules: string;
  scrape: object[];
  command?: (command: string, args: string[]) => [string, string[]];
}): Promise<Monitoring> {
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-monitoring-'));
  const [prometheusPort, alertmanagerPort] = [await freePort(), await freePort()];
  const received: ReceivedAlert[] = [];
  const webhook = await listen(received);
  const write = (name: string, content: string) => writeFileSync(path.join(folder, name), content);
  write('rules.yml', options.rules);
  write(
    'prometheus.yml',
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanagerPort}`] }] }] },
      scrape_configs: options.scrape,
    }),
  );
  write(
    'alertmanager.yml',
    JSON.stringify({
      route: { receiver: 'team', group_by: ['alertname'], group_wait: '1s', group_interval: '1s', repeat_interval: '1h' },
      receivers: [{ name: 'team', webhook_configs: [{ url: `http://127.0.0.1:${webhook.port}/`, send_resolved: true }] }],
    }),
  );
  const wrap = options.command ?? ((command: string, args: string[]): [string, string[]] => [command, args]);
  const start = (command: string, args: string[]): Promise<Child> => {
    const [wrapped, wrappedArgs] = wrap(command, args);
    return startChild({ command: wrapped, args: wrappedArgs, cwd: folder });
  };
  const children = [
    await start('prometheus', [
      '--config.file=prometheus.yml',
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ]),
    await start('prometheus-alertmanager', [
      '--config.file=alertmanager.yml',
      `--storage.path=${path.join(folder, 'alerts')}`,
      `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
      '--cluster.listen-address=',
    ]),
  ];
  const prometheusUrl = `http://127.0.0.1:${prometheusPort}`;
  const stop = async (): Promise<void> => {
    await Promise.all(children.map((child) => child.stop()));
    webhook.server.closeAllConnections();
    await new Promise((resolve) => webhook.server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually(
      async () => {
        for (const child of children) if (child.ended()) throw new Error(child.tail());
        const ready = await Promise.all(
          [`${prometheusUrl}/-/ready`, `http://127.0.0.1:${alertmanagerPort}/-/ready`].map(
            async (url) => (await fetch(url).catch(() => undefined))?.ok ?? false,
          ),
        );
        if (ready.includes(false))
          throw new Error(`not ready: ${JSON.stringify(ready)}\n${children.map((child) => child.tail()).join('\n')}`);
        return true;
      },
      { timeoutMs: 30_000, everyMs: 100 },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    prometheusUrl,
    received,
    async query(expr) {
      const response = await fetch(`${prometheusUrl}/api/v1/query?query=${encodeURIComponent(expr)}`);
      const { data } = (await response.json()) as {
        data: { result: { metric: Record<string, string>; value: [number, string] }[] };
      };
      return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    stop,
  };
}

function listen(received: ReceivedAlert[]): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push(...(JSON.parse(body) as { alerts: ReceivedAlert[] }).alerts);
      response.end();
    });
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve({ server, port: (server.address() as { port: number }).port })),
  );
}
