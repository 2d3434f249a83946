import { create } from '@bufbuild/protobuf';
import { compaction, transcript } from '@nightshift/contracts';
import { estimateText } from '../measure/text-estimate';
import { inflate } from '../measure/estimate';
import { measure } from '../measure/measure';
import { planSpill, readChars } from '../ingest/spill';
import { outputToSend } from '../policy/output';
import { policyWith } from '../policy/policy';
import { isOver, thresholdFor } from '../policy/threshold';
import { breakerAfter, breakerAllows, closedBreaker } from '../state/breaker';
import { noRefill, refillAfterPass } from '../state/refill';
import { head } from '../text/cut';
import type { Engine } from './engine';
import { textFrom } from './notation';
import type { TextSpec } from './notation';

type Input = Readonly<Record<string, unknown>>;

/** The stateless questions of the kit, answered by this project's functions. */
export const questions: Engine['questions'] = {
  threshold(input: Input) {
    const { measured, policy, ...rest } = input as unknown as { measured?: number[]; policy?: object } & Parameters<
      typeof thresholdFor
    >[0];
    const result = thresholdFor({ ...rest, policy: policyWith(policy ?? {}) });
    const { threshold, effective, hardLimit, tight, unknown, applied, irreducible } = result;
    const fires = (measured ?? []).map((tokens) => isOver(tokens, result));
    const floor = irreducible && {
      fixed: irreducible.fixed,
      smallestWindow: irreducible.smallestWindow,
      message: irreducible.message,
    };
    return { threshold, effective, hardLimit, tight, unknown, applied, fires, irreducible: floor ?? null };
  },
  output(input: Input) {
    const { tokens, compactFirst } = outputToSend(input as unknown as Parameters<typeof outputToSend>[0]);
    return { tokens: tokens ?? null, compactFirst };
  },
  measure(input: Input) {
    const { usage, ...rest } = input as unknown as { usage?: Record<string, unknown> };
    const now = {
      generation: 0,
      provider: 'p',
      model: 'm',
      prefixSha256: 'x',
      prefixEstimate: 0,
      appendedEstimate: 0,
      messagesEstimate: 0,
      ...rest,
    };
    const { tokens, source } = measure({ ...now, ...(usage ? { usage: boundUsage(usage) } : {}) });
    return { tokens, source };
  },
  estimate(input: Input) {
    const estimate = estimateText(textFrom(input['text'] as TextSpec));
    return { estimate, inflated: inflate(estimate) };
  },
  breaker(input: Input) {
    const given = input as unknown as {
      passes: { outcome: string; measured: number; before?: number; after?: number; model?: string }[];
      effective: number;
      then: { measured: number; model?: string }[];
    };
    let state = closedBreaker();
    let trips = 0;
    for (const { outcome, measured, before = measured, after = measured, model = 'm' } of given.passes) {
      const figures = {
        outcome: outcomeNamed(outcome),
        measured,
        before,
        after,
        effective: given.effective,
        provider: 'p',
        model,
      };
      // Stored between two passes, as a restarted worker would find it.
      const next = breakerAfter(
        create(compaction.BreakerStateSchema, JSON.parse(JSON.stringify({ ...state })) as object),
        figures,
      );
      state = next.state;
      if (next.tripped) trips++;
    }
    const allowed = given.then.map(({ measured, model = 'm' }) => breakerAllows(state, { measured, provider: 'p', model }));
    return { open: state.open, failures: state.failures, trips, allowed };
  },
  refill(input: Input) {
    const { passesAtCalls, largerCandidate } = input as unknown as { passesAtCalls: number[]; largerCandidate: boolean };
    let state = noRefill;
    const actions = passesAtCalls.map((modelCalls) => {
      const next = refillAfterPass(state, { modelCalls, largerCandidate });
      state = next.state;
      return next.action;
    });
    return { actions };
  },
  spill(input: Input) {
    const { results, batchTokens, limitChars } = input as unknown as {
      results: { id: string; chars: number; tokens: number }[];
      batchTokens: number;
      limitChars?: number;
    };
    return { spilled: planSpill(results, batchTokens, limitChars) };
  },
  read_limit(input: Input) {
    const { room, changeable } = input as unknown as { room: number; changeable: number };
    return { chars: readChars(room, changeable) };
  },
  cut(input: Input) {
    const { text, at } = input as unknown as { text: TextSpec; at: number };
    const cut = head(textFrom(text), at);
    return { length: cut.length, wellFormed: cut.isWellFormed() };
  },
};

function boundUsage(usage: Record<string, unknown>): transcript.BoundUsage {
  const {
    inputTotal = 0,
    silentlyTruncated = false,
    cut = false,
    ...bound
  } = usage as { inputTotal?: number; silentlyTruncated?: boolean; cut?: boolean };
  const source = cut ? transcript.UsageSource.RUNNING : transcript.UsageSource.TERMINAL;
  return create(transcript.BoundUsageSchema, {
    provider: 'p',
    model: 'm',
    prefixSha256: 'x',
    ...bound,
    usage: create(transcript.UsageSchema, { inputTotal, silentlyTruncated, source }),
  });
}

function outcomeNamed(name: string): compaction.PassOutcome {
  const value = compaction.PassOutcome[name.toUpperCase() as keyof typeof compaction.PassOutcome];
  if (value === undefined) throw new RangeError(`no outcome ${name}`);
  return value;
}
