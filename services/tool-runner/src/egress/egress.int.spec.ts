import { createServer, type Server } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { tool } from '@nightshift/contracts';
import { textOf } from '../../spec-kit/other-side';
import { withRunner } from '../../spec-kit/with-runner';
import { openEgress } from './egress-proxy';

/** A client without any library: asks through the proxy of the environment, by CONNECT or in absolute form. */
const client = `
const [, , mode, target] = process.argv, proxy = new URL(process.env.HTTPS_PROXY), http = require('http');
const to = { host: proxy.hostname, port: proxy.port };
const show = (response) => { let text = ''; response.on('data', (part) => (text += part)); response.on('end', () => console.log(response.statusCode, text.trim())); };
if (mode === 'plain') http.get({ ...to, path: 'http://' + target + '/', headers: { host: target } }, show);
else http.request({ ...to, method: 'CONNECT', path: target }).on('connect', (response, socket) => {
  if (response.statusCode !== 200) { console.log(response.statusCode); socket.destroy(); return; }
  http.get({ createConnection: () => socket, host: target, path: '/' }, show);
}).end();
`;

describe('hosts that a task may reach', () => {
  const test = withRunner({ ALLOW_INNER_HOSTS: 'true' });
  const { side } = test;
  let target: Server | undefined;
  let port = 0;
  const run = async (command: string, allowedHosts: string[]): Promise<string> =>
    textOf(await side.call('run_command', { command }, { policy: create(tool.PolicySchema, { allowedHosts }) }));

  beforeAll(async () => {
    const directory = join(test.sources, 'project');
    mkdirSync(directory);
    await side.open('ws-1', { directory, mode: 'in_place' });
    await side.call('write_file', { path: 'client.js', content: client });
    target = createServer((request, response) => response.end(`hello ${request.url}`));
    await new Promise<void>((resolve) => target?.listen(0, '127.0.0.1', resolve));
    port = (target.address() as { port: number }).port;
  });
  afterAll(() => void target?.close());

  it('a listed host is reached through the proxy, by tunnel and in plain', async () => {
    const command = `node client.js tunnel 127.0.0.1:${port}; node client.js plain 127.0.0.1:${port}`;
    expect(await run(command, [`127.0.0.1:${port}`])).toMatch(/^200 hello \/\n200 hello \/\n\[exit code 0/);
  });

  it('any other host is refused by name, and there is no way around the proxy', async () => {
    const command = `node client.js plain localhost:${port}; node client.js tunnel 127.0.0.1:1; (echo > /dev/tcp/127.0.0.1/${port}) && echo reached`;
    const text = await run(command, [`127.0.0.1:${port}`]);
    expect(text).toMatch(
      new RegExp(`^403 localhost:${port} is not among the hosts this task may reach \\(127.0.0.1:${port}\\)\\n403\\n`),
    );
    expect(text).toContain('Connection refused');
    expect(text).not.toContain('reached');
  });

  it('the exit code of the command comes through', async () => {
    expect(await run('exit 7', ['example.com'])).toMatch(/\[exit code 7/);
    expect(await run('kill -TERM $$', ['example.com'])).toMatch(/\[exit code 143/);
  });

  it('a listed name that leads to this machine is refused unless the operator allows it', async () => {
    const egress = await openEgress({ allowedHosts: [`localhost:${port}`], allowInner: false });
    const { request } = await import('node:http');
    const text = await new Promise<string>((resolve) => {
      request({ socketPath: egress.socket, path: `http://localhost:${port}/` }, (response) => {
        response.on('data', (part: Buffer) => resolve(part.toString()));
      }).end();
    });
    egress.close();
    expect(text).toMatch(/leads to the inner address .* which the operator does not allow/);
  });
});
