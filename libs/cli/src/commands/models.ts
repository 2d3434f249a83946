import { parseCandidate } from '@nightshift/config';
import type { Command } from 'commander';
import type { ModelsJson, ProvidersJson, WindowJson } from '../client/shapes';
import { grouped, moment } from '../show/numbers';
import { table } from '../show/table';
import { print, type Context } from './context';

interface OverrideOptions {
  window?: number;
  inputMax?: number;
  outputMax?: number;
  numCtx?: number;
  endpoint?: string;
  remove?: boolean;
  json?: boolean;
}

/** `models`, `models override`, `providers`. */
export function modelsCommands(program: Command, context: Context): void {
  const models = program
    .command('models')
    .description('known model windows and why they are believed')
    .option('--refresh', 'ask the servers first')
    .option('--provider <id>')
    .option('--json')
    .action(async (options: { refresh?: boolean; provider?: string; json?: boolean }) => {
      const query = { refresh: options.refresh ?? false, provider: options.provider };
      const reply = await context.api().get<ModelsJson>('/v1/models', { query });
      print(context, options.json, reply, () => modelsText(reply));
    });

  models
    .command('override')
    .description('set the window of a model for the team')
    .argument('<provider/model>')
    .option('--window <tokens>', 'context window', Number)
    .option('--input-max <tokens>', 'largest input', Number)
    .option('--output-max <tokens>', 'largest output', Number)
    .option('--num-ctx <tokens>', 'sent to Ollama as num_ctx', Number)
    .option('--endpoint <url>', 'only at this endpoint')
    .option('--remove', 'take the override back')
    .option('--json')
    .action(async (name: string, options: OverrideOptions) => {
      const { window, inputMax, outputMax, numCtx, endpoint } = options;
      const figures = options.remove ? {} : { window, inputMax, outputMax, numCtx };
      const body = { ...parseCandidate(name), endpoint, ...figures };
      const reply = await context.api().put<{ window?: WindowJson }>('/v1/models/override', body);
      print(context, options.json, reply, () => (reply.window ? windowText(reply.window).join('\n') : 'done') + '\n');
    });

  program
    .command('providers')
    .description('configured providers and their circuit breakers')
    .option('--json')
    .action(async (options: { json?: boolean }) => {
      const reply = await context.api().get<ProvidersJson>('/v1/providers');
      print(context, options.json, reply, () => providersText(reply));
    });
}

function windowText({ window, sources, numCtx }: WindowJson): string[] {
  if (!window) return [];
  const notes = [
    window.unknown ? 'unknown' : '',
    window.stale ? 'stale' : '',
    window.notLoaded ? 'not loaded' : '',
    numCtx > 0 ? `num_ctx ${grouped(numCtx)}` : '',
  ].filter(Boolean);
  const lines = [
    `${window.provider}/${window.model}${window.endpoint ? ` at ${window.endpoint}` : ''}: window ${grouped(window.window)} (${window.source})` +
      `${window.inputMax ? `, input ≤ ${grouped(window.inputMax)}` : ''}${window.outputMax ? `, output ≤ ${grouped(window.outputMax)}` : ''}` +
      `${notes.length > 0 ? ` [${notes.join(', ')}]` : ''}`,
  ];
  for (const source of sources) {
    lines.push(
      `    ${source.fate.padEnd(8)} ${source.source.padEnd(10)} ${grouped(source.window)}${source.reason ? `  ${source.reason}` : ''}`,
    );
  }
  if (window.warning) lines.push(`    warning: ${window.warning}`);
  return lines;
}

function modelsText(reply: ModelsJson): string {
  const lines = reply.windows.flatMap(windowText);
  const endpoints = table(
    ['provider', 'endpoint', 'state', 'last answer', 'version', 'reason'],
    reply.endpoints.map((one) => [one.provider, one.endpoint, one.state, moment(one.lastOkMs), one.serverVersion, one.reason]),
  );
  return `${lines.join('\n') || '(no models)'}\n\n${endpoints}`;
}

function providersText(reply: ProvidersJson): string {
  const rows = reply.providers.map((one) => [
    one.provider,
    one.format,
    one.keyConfigured ? 'key set' : 'no key',
    `${one.inFlight}/${one.limit || '-'}`,
    one.endpoint,
  ]);
  const breakers = reply.providers.flatMap((one) =>
    one.breakers.map((breaker) => [
      `${one.provider}/${breaker.model}`,
      breaker.state,
      breaker.failures,
      breaker.trips,
      breaker.openUntilMs ? moment(breaker.openUntilMs) : '-',
      breaker.reason,
    ]),
  );
  return (
    table(['provider', 'format', 'key', 'in flight', 'endpoint'], rows) +
    (breakers.length > 0 ? `\n${table(['breaker', 'state', 'failures', 'trips', 'open until', 'reason'], breakers)}` : '')
  );
}
