import { silentTruncation, type TruncationEvidence, type TruncationSign } from './silent-truncation';

const evidence = (over: Partial<TruncationEvidence>): TruncationEvidence => ({
  reportedInput: 4_000,
  reported: true,
  estimatedInput: 4_000,
  servedWindow: 8_192,
  stoppedForLength: false,
  outputTokens: 10,
  contentSeen: true,
  ...over,
});
const belowServed = { why: 'reported input is far below the estimate and fills the served window' };
const belowUsual = { why: 'reported input is far below the estimate and fills a usual default window' };

describe('silentTruncation', () => {
  it.each<[string, Partial<TruncationEvidence>, TruncationSign | undefined]>([
    ['an answer that read what was sent', {}, undefined],
    ['the served window filled by far less than was sent', { reportedInput: 8_100, estimatedInput: 14_000 }, belowServed],
    ['half of the served window filled (Ollama)', { reportedInput: 4_098, estimatedInput: 14_000 }, belowServed],
    ['six tenths of the estimate and more', { reportedInput: 8_192, estimatedInput: 13_600 }, undefined],
    ['far below the estimate, but at no window', { reportedInput: 6_000, estimatedInput: 14_000 }, undefined],
    ['no report at all', { reportedInput: 8_192, estimatedInput: 20_000, reported: false }, undefined],
    [
      'more read than the window holds',
      { reportedInput: 9_000, estimatedInput: 9_000 },
      { why: 'reported input is larger than the window' },
    ],
    ['length without a word', { stoppedForLength: true, outputTokens: 0 }, { why: 'stopped for length without any output' }],
    [
      'an unknown window that is a usual default',
      { servedWindow: 0, reportedInput: 2_050, estimatedInput: 9_000 },
      { ...belowUsual, window: 4_096 },
    ],
    // Runs of blanks or of one character are estimated at up to twice what they are.
    [
      'an unknown window and text that compresses well',
      { servedWindow: 0, reportedInput: 4_051, estimatedInput: 7_000 },
      undefined,
    ],
  ])('%s', (_what, over, expected) => {
    expect(silentTruncation(evidence(over))).toEqual(expected);
  });
});
