import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { SimulatorConfigInput } from './config/config';
import { startSimulator } from './server/simulator';

const usage = 'usage: node dist/main.js [--port 7420] [--config FILE.json] [--log FILE.jsonl]';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '7420' }, config: { type: 'string' }, log: { type: 'string' } },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port ${values.port} is not a port\n${usage}`);
  // Checked by startSimulator, which lists every fault.
  const config = (values.config === undefined ? {} : JSON.parse(readFileSync(values.config, 'utf8'))) as SimulatorConfigInput;
  const simulator = await startSimulator({ config, port, ...(values.log === undefined ? {} : { logFile: values.log }) });
  console.log('nightshift-model-simulator: scripted answers, no model behind them');
  for (const [name, url] of Object.entries(simulator.servers)) console.log(`simulator server ${name} ${url}`);
  console.log(`simulator ready ${simulator.url}`);
  const stop = (): void => {
    void simulator.stop().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  console.error(`nightshift-model-simulator: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(78);
});
