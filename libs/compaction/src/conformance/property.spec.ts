import { create } from '@bufbuild/protobuf';
import { compaction, transcript } from '@nightshift/contracts';
import fc from 'fast-check';
import { estimateView } from '../measure/estimate';
import { visibleSeqs } from '../view/render';
import { runLadder } from '../ladder/run';
import type { LadderInput } from '../ladder/input';
import { History } from './history';
import { brokenInvariants } from './invariants';
import { MemoryStore } from './memory-store';
import { summarizers } from './summarizers';
import type { SummarizerName } from './summarizers';

const runs = Number(process.env['NIGHTSHIFT_HISTORIES'] ?? 300);
const goalAndPlan = [
  create(compaction.ReinjectedSchema, { kind: 'goal', label: '', text: 'Make the build green.\n- [ ] tests pass' }),
  create(compaction.ReinjectedSchema, { kind: 'plan', label: '', text: '1. read\n2. fix\n3. test 🚀' }),
];
const tools = [
  create(transcript.ToolSchemaSchema, { name: 'read_file', description: 'Reads a file.', inputSchemaJson: '{"type":"object"}' }),
];

const scenario = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 }),
  window: fc.constantFrom(8_192, 16_384, 32_768, 65_536, 200_000),
  rounds: fc.integer({ min: 1, max: 40 }),
  passes: fc.integer({ min: 1, max: 4 }),
  huge: fc.constantFrom(0, 0.02, 0.2),
  goalChars: fc.constantFrom(50, 2_000, 60_000),
  steerChars: fc.constantFrom(100, 3_000, 40_000),
  summarizer: fc.constantFrom<SummarizerName>(
    'extractive',
    'verbose',
    'empty',
    'refusing',
    'failing',
    'thinking',
    'tool_call',
    'missing',
  ),
  reason: fc.constantFrom(compaction.PassReason.THRESHOLD, compaction.PassReason.MANUAL, compaction.PassReason.OVERFLOW),
});

test('no invariant breaks over generated histories and chained passes', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (s) => {
      const history = new History({ seed: s.seed, huge: s.huge, goalChars: s.goalChars, steerChars: s.steerChars });
      const store = new MemoryStore();
      let checkpoint: compaction.Checkpoint | undefined;
      for (let pass = 0; pass < s.passes; pass++) {
        history.grow(s.rounds);
        const { seqs, afterSeq } = visibleSeqs(checkpoint);
        const entries = history.entries.filter((entry) => entry.seq > afterSeq || seqs.includes(entry.seq));
        const input: LadderInput = {
          system: 'You are an agent. Rules: be careful.',
          tools,
          entries,
          checkpoint,
          generation: checkpoint?.generation ?? 0,
          reason: s.reason,
          window: s.window,
          measured: 0,
          goalAndPlan,
          summarizers: [{ provider: 'p', model: 'm', window: s.window, inputMax: 0, outputMax: 0 }],
          nowMs: 1,
        };
        let now = 0;
        const result = await runLadder(input, { summarize: summarizers[s.summarizer], store, clock: () => now++ });
        expect(await brokenInvariants({ input, entries: history.entries, result, store })).toEqual([]);
        if (result.checkpoint && result.view) {
          // What the meter says is what the rendered view costs.
          expect(result.checkpoint.viewEstimate + estimateView({ ...result.view, messages: [] })).toBe(estimateView(result.view));
          if (s.reason === compaction.PassReason.THRESHOLD) expect(result.after).toBeLessThanOrEqual(result.threshold.effective);
          checkpoint = result.checkpoint;
        } else if (s.reason === compaction.PassReason.THRESHOLD) {
          expect({
            ok: result.threshold.irreducible !== undefined || result.outcome === compaction.PassOutcome.NO_LONGER_DUE,
            reason: result.reason,
          }).toEqual({ ok: true, reason: result.reason });
        }
      }
    }),
    { numRuns: runs, endOnFailure: true },
  );
}, 600_000);
