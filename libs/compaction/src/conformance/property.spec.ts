import fc from 'fast-check';
import { playHistory, scenarioSpace } from './histories';
import type { Scenario } from './histories';
import { summarizerNames } from './summarizers';

const runs = 2_000;

/** fast-check shrinks the scenario, and with it the history: fewer rounds, fewer passes, smaller texts. */
const scenario: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 }),
  window: fc.constantFrom(...scenarioSpace.window),
  rounds: fc.integer({ min: 1, max: scenarioSpace.maxRounds }),
  passes: fc.integer({ min: 1, max: scenarioSpace.maxPasses }),
  huge: fc.constantFrom(...scenarioSpace.huge),
  goalChars: fc.constantFrom(...scenarioSpace.goalChars),
  steerChars: fc.constantFrom(...scenarioSpace.steerChars),
  summarizer: fc.constantFrom(...summarizerNames),
  reason: fc.constantFrom(...scenarioSpace.reason),
});

test('no invariant breaks over generated histories and chained passes', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => expect((await playHistory(one)).broken).toEqual([])),
    { numRuns: runs },
  );
}, 600_000);
