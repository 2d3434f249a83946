import { Command } from 'commander';
import type { Context } from './commands/context';
import { modelsCommands } from './commands/models';
import { doctorCommand } from './doctor/doctor.command';
import { operationsCommands } from './commands/operations';
import { readingCommands } from './commands/reading';
import { steeringCommands } from './commands/steering';
import { taskCommand } from './commands/task';
import { tasksCommands } from './commands/tasks';

/** The `nightshift` command. */
export function programOf(context: Context): Command {
  const program = new Command('nightshift')
    .description('Long coding-agent tasks that never die of a full context window.')
    .showHelpAfterError('(nightshift help shows all commands)');
  taskCommand(program, context);
  tasksCommands(program, context);
  steeringCommands(program, context);
  readingCommands(program, context);
  modelsCommands(program, context);
  operationsCommands(program, context);
  doctorCommand(program, context);
  return program;
}
