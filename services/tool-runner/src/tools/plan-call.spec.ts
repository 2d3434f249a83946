import fc from 'fast-check';
import { isNightshiftError, workspaceTools, type WorkspaceToolName } from '@nightshift/contracts';
import { parseArguments } from './plan-call';

describe('arguments of a call', () => {
  it('every fault is listed with its place', () => {
    expect(() => parseArguments('run_command', '{"timeout_seconds": "soon", "shell": "zsh"}')).toThrow(
      /run_command was called with wrong arguments\ncommand: expected string, received undefined\ntimeout_seconds: expected (int|number), received string\narguments: Unrecognized key: "shell"/,
    );
  });

  it('no text and no value crashes: it is parsed or refused with INVALID_ARGUMENT', () => {
    const names = Object.keys(workspaceTools) as WorkspaceToolName[];
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.object().map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), texts, (name, text) => {
        try {
          parseArguments(name, text);
        } catch (error) {
          expect(isNightshiftError(error) && error.code).toBe('INVALID_ARGUMENT');
        }
      }),
      { numRuns: 500 },
    );
  });
});
