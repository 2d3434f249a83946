import { transcript } from '@nightshift/contracts';
import { inflate } from './estimate';

export interface MeasureInput {
  /** The last report of the task, if any. */
  readonly usage?: transcript.BoundUsage;
  readonly generation: number;
  /** The model the next request goes to. */
  readonly provider: string;
  readonly model: string;
  /** sha256 of system prompt and tool schemas now. */
  readonly prefixSha256: string;
  /** Plain estimate of system prompt and tool schemas now. */
  readonly prefixEstimate: number;
  /** Sum of the plain estimates of the entries after `usage.throughSeq`. Only read when the report is valid. */
  readonly appendedEstimate: number;
  /** Plain estimate of all messages of the view. Only read when there is no valid report. */
  readonly messagesEstimate: number;
}

export interface Measured {
  readonly tokens: number;
  readonly source: 'reported' | 'reported+estimate' | 'estimate';
  /** A crossing must be confirmed by the tokenizer before it counts. */
  readonly needsConfirmation: boolean;
  /** Why the last report was not used; empty when it was. */
  readonly why: string;
}

/** Why a report says nothing about the next request; undefined when it does. */
export function usageFault(
  usage: transcript.BoundUsage | undefined,
  now: Pick<MeasureInput, 'generation' | 'provider' | 'model'>,
): string | undefined {
  if (!usage?.usage) return 'no report yet';
  if (usage.usage.inputTotal === 0) return 'the report says 0';
  if (usage.usage.silentlyTruncated) return 'the server dropped part of the input';
  if (usage.usage.source !== transcript.UsageSource.TERMINAL) return 'the stream was cut before its final report';
  if (usage.generation !== now.generation) return `the report is of generation ${usage.generation}, now ${now.generation}`;
  if (usage.provider !== now.provider || usage.model !== now.model) return `the report is of ${usage.provider}/${usage.model}`;
  return undefined;
}

/**
 * Input tokens of the next request: what the provider last reported plus the estimate of what was appended since, or the
 * inflated estimate of everything. Costs nothing: all sums come in.
 */
export function measure(input: MeasureInput): Measured {
  const { usage } = input;
  const why = usageFault(usage, input);
  if (why !== undefined || !usage?.usage) {
    const tokens = inflate(input.prefixEstimate + input.messagesEstimate);
    return { tokens, source: 'estimate', needsConfirmation: true, why: why ?? 'no report yet' };
  }
  const changed = usage.prefixSha256 === input.prefixSha256 ? 0 : input.prefixEstimate - usage.prefixEstimate;
  const tokens = Math.max(0, usage.usage.inputTotal + input.appendedEstimate + changed);
  const exact = input.appendedEstimate === 0 && changed === 0;
  return { tokens, source: exact ? 'reported' : 'reported+estimate', needsConfirmation: false, why: '' };
}

/**
 * Whether a crossing counts. An estimate alone is not enough: the tokenizer's count must cross too.
 * @param confirmed tokens by the tokenizer; absent = not asked yet
 */
export function crosses(measured: Measured, effective: number, confirmed?: number): 'no' | 'yes' | 'confirm' {
  if (measured.tokens <= effective) return 'no';
  if (!measured.needsConfirmation) return 'yes';
  if (confirmed === undefined) return 'confirm';
  return confirmed > effective ? 'yes' : 'no';
}

/** True when report and estimate of the same request differ by more than a fifth: one of them is not to be trusted. */
export function drifted(reported: number, estimated: number): boolean {
  return reported > 0 && Math.abs(reported - estimated) * 5 > reported;
}
