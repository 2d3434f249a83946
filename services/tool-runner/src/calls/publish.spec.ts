import { create, toBinary } from '@bufbuild/protobuf';
import { maxCommandBytes, tool } from '@nightshift/contracts';
import { answer } from '../tools/answer';
import { finishedOf, preview, spillOf } from './publish';

const facts = { taskId: 't', callId: 'c', tool: 'run_command', runner: 'r', ms: 1, replayed: false };
const reference = { id: 'res_1', sha256: 'f'.repeat(64), bytes: 1 };

describe('what a report carries', () => {
  it.each([
    ['a short text stays', answer('x'.repeat(20_000)), 20_000, false],
    ['a text above the limit is stored', answer('x'.repeat(20_001)), 20_000, true],
    ['a text of many bytes is stored whatever its characters', answer('€'.repeat(15_000)), 20_000, true],
    [
      'a small picture stays',
      answer('', { parts: [{ image: { mediaType: 'image/png', data: new Uint8Array(1_000), width: 1, height: 1 } }] }),
      20_000,
      false,
    ],
    [
      'a large picture is stored',
      answer('', { parts: [{ image: { mediaType: 'image/png', data: new Uint8Array(90_000), width: 1, height: 1 } }] }),
      20_000,
      true,
    ],
  ])('%s', (_title, result, limit, spilled) => {
    const spill = spillOf(result, limit);
    expect(spill !== undefined).toBe(spilled);
    const message = create(tool.FinishedSchema, finishedOf(result, facts, spill, spill && reference));
    expect(toBinary(tool.FinishedSchema, message).length).toBeLessThan(maxCommandBytes);
  });

  it('a preview has beginning, end and id in fewer than 3 000 characters, and no half of a pair', () => {
    const text = preview(`a${'😀'.repeat(10_000)}z`, 'res_123456789012');
    expect(text.length).toBeLessThan(3_000);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/^a😀[^]*res_123456789012[^]*😀z$/);
  });
});
