import { transcript } from '@nightshift/contracts';
import { textResult } from '../outcomes/calls';
import { liveHandles } from './handles';

const ran = (tool: string, args: object, text: string): Parameters<typeof liveHandles>[0][number] => ({
  tool,
  state: 'finished',
  argumentsJson: JSON.stringify(args),
  result: textResult({ callId: 'c', providerId: 'p', tool }, text, transcript.ToolOutcome.FINISHED),
});
const started = ran(
  'run_command',
  { command: 'npm start', background: true },
  'Started in the background as cmd_1. command_output shows …',
);

describe('background commands that still run', () => {
  it.each([
    ['a started one', [started], { cmd_1: 'npm start' }],
    [
      'one that was seen running',
      [started, ran('command_output', { handle: 'cmd_1' }, 'listening\n[cmd_1 is running]')],
      { cmd_1: 'npm start' },
    ],
    ['not one that has ended', [started, ran('command_output', { handle: 'cmd_1' }, 'bye\n[exit status 0]')], {}],
    ['not one that was stopped', [started, ran('stop_command', { handle: 'cmd_1' }, '[ended]')], {}],
    ['not a command in the foreground that prints a handle', [ran('run_command', { command: 'echo cmd_9' }, 'cmd_9')], {}],
  ])('%s', (_title, calls, live) => {
    expect(Object.fromEntries(liveHandles(calls))).toEqual(live);
  });
});
