import type { Command } from 'commander';
import { stateDirOf } from '../client/address';
import type { DeadLetterJson, KeyJson } from '../client/shapes';
import { resetKey } from '../local/reset-key';
import { shorten } from '../show/event-line';
import { moment } from '../show/numbers';
import { table } from '../show/table';
import { print, type Context } from './context';

/** `dead-letters`, `keys`. */
export function operationsCommands(program: Command, context: Context): void {
  deadLetters(program, context);
  keys(program, context);
}

function deadLetters(program: Command, context: Context): void {
  const letters = program
    .command('dead-letters')
    .description('messages that could not be handled')
    .option('--state <state>', 'waiting, retried or discarded')
    .option('--json')
    .action(async (options: { state?: string; json?: boolean }) => {
      const query = { state: options.state };
      const reply = await context.api().get<{ deadLetters: DeadLetterJson[] }>('/v1/dead-letters', { query });
      print(context, options.json, reply.deadLetters, () =>
        table(
          ['id', 'state', 'at', 'route', 'deliveries', 'reason'],
          reply.deadLetters.map((one) => [
            one.id,
            one.state,
            moment(one.atMs),
            one.route,
            one.deliveries,
            shorten(one.reason, 80),
          ]),
        ),
      );
    });
  for (const verb of ['retry', 'discard'] as const) {
    letters
      .command(verb)
      .description(verb === 'retry' ? 'send one again' : 'mark one as done with')
      .argument('<id>')
      .action(async (id: string) => {
        const letter = await context.api().post<DeadLetterJson>(`/v1/dead-letters/${id}/${verb}`);
        context.output.write(`${letter.state}\n`);
      });
  }
}

function keys(program: Command, context: Context): void {
  const group = program
    .command('keys')
    .description('API keys of the team')
    .option('--json')
    .action(async (options: { json?: boolean }) => {
      const reply = await context.api().get<{ keys: KeyJson[] }>('/v1/keys');
      print(context, options.json, reply.keys, () =>
        table(
          ['id', 'name', 'key', 'role', 'made', 'last used', 'state'],
          reply.keys.map((key) => [
            key.id,
            key.name,
            `${key.prefix}…`,
            key.role,
            moment(key.createdAtMs),
            moment(key.lastUsedAtMs),
            key.revokedAtMs ? 'revoked' : 'valid',
          ]),
        ),
      );
    });
  group
    .command('create')
    .description('make a key; it is shown only this once')
    .argument('<name>')
    .option('--role <role>', 'reader, member or admin', 'member')
    .option('--json')
    .action(async (name: string, options: { role: string; json?: boolean }) => {
      const made = await context.api().post<KeyJson & { key: string }>('/v1/keys', { name, role: options.role });
      print(context, options.json, made, () => `${made.key}\n`);
    });
  group
    .command('revoke')
    .description('make a key useless at once')
    .argument('<id>')
    .action(async (id: string) => {
      await context.api().delete(`/v1/keys/${id}`);
      context.output.write('revoked\n');
    });
  group
    .command('reset')
    .description('replace the lost admin key of the local installation')
    .action(() => context.output.write(`${resetKey(stateDirOf())}\n`));
}
