import { z } from 'zod';
import { isWorkspaceTool, workspaceTools } from './tools';

describe('workspace tools', () => {
  it('every tool renders as an object schema that refuses unknown arguments', () => {
    for (const tool of Object.values(workspaceTools)) {
      expect(z.toJSONSchema(tool.arguments)).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });

  it('names of the object prototype are not tools', () => {
    expect(['read_file', 'constructor', 'toString'].map(isWorkspaceTool)).toEqual([true, false, false]);
  });

  it('command_output is read-only towards the workspace and each effect class is one of the three', () => {
    expect(Object.entries(workspaceTools).map(([name, tool]) => `${name} ${tool.effect}`)).toEqual([
      'read_file read-only',
      'write_file keyed',
      'edit_file keyed',
      'list_files read-only',
      'search_files read-only',
      'run_command effectful',
      'command_output read-only',
      'stop_command keyed',
    ]);
  });
});
