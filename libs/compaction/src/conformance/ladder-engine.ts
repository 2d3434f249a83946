import { create } from '@bufbuild/protobuf';
import { compaction, NightshiftError, transcript } from '@nightshift/contracts';
import type { ArchiveLine } from '../ladder/archive';
import type { LadderPorts, SummaryCall } from '../ladder/ports';
import { runLadder } from '../ladder/run';
import { budgetsFor } from '../policy/room';
import { policyWith } from '../policy/policy';
import { renderView, visibleSeqs } from '../view/render';
import type { Engine, PassAsked, PassSaid, Session, SummaryRequest, TaskGiven } from './engine';
import { questions } from './questions';
import { FaultyStore } from './store-faults';
import { summarizers } from './summarizers';

const { PassReason, PassOutcome } = compaction;
const reasons = {
  threshold: PassReason.THRESHOLD,
  overflow: PassReason.OVERFLOW,
  model_switch: PassReason.MODEL_SWITCH,
  manual: PassReason.MANUAL,
} as const;

/** This project's engine behind the kit's adapter. */
export const ladderEngine: Engine = { name: 'nightshift', open: (task) => new LadderSession(task), questions };

class LadderSession implements Session {
  private readonly checkpoints: compaction.Checkpoint[] = [];
  private readonly store = new FaultyStore();
  private failedSummaries = { inARow: 0, atTokens: 0 };

  constructor(private readonly task: TaskGiven) {}

  view(entries: readonly transcript.Entry[]): transcript.View {
    const { system, tools } = this.task;
    return renderView({ system, tools, entries, checkpoint: this.checkpoints.at(-1) });
  }

  undo(): void {
    this.checkpoints.pop();
  }

  async pass(all: readonly transcript.Entry[], asked: PassAsked): Promise<PassSaid> {
    const checkpoint = this.checkpoints.at(-1);
    const { seqs, afterSeq } = visibleSeqs(checkpoint);
    this.store.fault = asked.store;
    const requests: SummaryRequest[] = [];
    const policy = policyWith(asked.policy);
    const result = await runLadder(
      {
        ...this.task,
        entries: all.filter((entry) => entry.seq > afterSeq || seqs.includes(entry.seq)),
        checkpoint,
        generation: checkpoint?.generation ?? 0,
        reason: reasons[asked.reason],
        window: asked.window,
        inputMax: asked.inputMax,
        outputMax: asked.outputMax,
        maxOutput: asked.maxOutput,
        policy,
        measured: asked.measured,
        editedFiles: asked.files,
        handles: asked.handles,
        focus: asked.focus,
        summarizers: [
          { provider: 'p', model: 'm', window: asked.summarizerWindow || asked.window, inputMax: 0, outputMax: asked.outputMax },
        ],
        failedSummaries: asked.failedSummaries.inARow > 0 ? asked.failedSummaries : this.failedSummaries,
        nowMs: 1,
        limits: asked.limits,
        imagesOnly: asked.imagesOnly,
      },
      { ...ports(asked, requests), store: this.store },
    );
    this.store.fault = 'none';
    if (result.checkpoint) this.checkpoints.push(result.checkpoint);
    const inARow = result.summaryFailed ? this.failedSummaries.inARow + 1 : 0;
    this.failedSummaries = { inARow, atTokens: result.before };
    const { threshold, effective } = result.threshold;
    return {
      committed: result.checkpoint !== undefined,
      outcome: PassOutcome[result.outcome].toLowerCase(),
      reason: result.reason,
      before: result.before,
      after: result.after,
      threshold,
      effective,
      landing: budgetsFor(result.threshold, effective, policy.minRetained).landing,
      tiers: result.tiers.map(({ tier, outcome, reason }) => ({ tier, outcome, reason })),
      summary: result.checkpoint?.summary,
      generation: this.checkpoints.at(-1)?.generation ?? 0,
      summaryRequests: requests,
      summaryFailed: result.summaryFailed,
      prefixBreak: result.prefixBreak,
    };
  }

  async restore(entry: transcript.Entry, part: number): Promise<Uint8Array | undefined> {
    const checkpoint = this.checkpoints.at(-1);
    const replacement = checkpoint?.replacements.find((one) => one.seq === entry.seq && one.part === part);
    if (replacement?.stored) return this.read(replacement.stored.id);
    // As a model would: the newest archive is named in the view, each one names the one before it.
    let archive: string | undefined = checkpoint?.archives.at(-1)?.stored?.id;
    while (archive !== undefined) {
      const text = Buffer.from((await this.read(archive)) ?? []).toString('utf8');
      let earlier: string | undefined;
      for (const line of text.split('\n')) {
        const parsed = JSON.parse(line) as ArchiveLine | { readonly earlier: string };
        if ('earlier' in parsed) earlier = parsed.earlier;
        else if (parsed.seq === entry.seq) return this.fromLine(parsed, part);
      }
      archive = earlier;
    }
    return undefined;
  }

  private async fromLine(line: ArchiveLine, part: number): Promise<Uint8Array | undefined> {
    const found = line.parts[part];
    if (!found || 'dropped' in found) return undefined;
    if ('stored' in found) return this.read(found.stored);
    return Buffer.from('text' in found ? found.text : found.arguments, 'utf8');
  }

  private read(id: string): Promise<Uint8Array | undefined> {
    return this.store.get(id).catch(() => undefined);
  }
}

function ports(asked: PassAsked, requests: SummaryRequest[]): Omit<LadderPorts, 'store'> {
  let now = 0;
  const note = (call: SummaryCall): void => {
    requests.push({ kind: call.kind, view: call.view, tokens: call.inputTokens, maxOutput: call.maxOutputTokens });
  };
  const summarize = (call: SummaryCall): Promise<transcript.AssistantMessage> => {
    note(call);
    if (asked.summarizer === 'slow') {
      now += call.timeoutMs;
      return Promise.reject(new NightshiftError('DEADLINE_EXCEEDED', `no answer within ${call.timeoutMs} ms`));
    }
    if (asked.summarizer === 'none') return Promise.resolve(create(transcript.AssistantMessageSchema));
    return summarizers[asked.summarizer](call);
  };
  const condense: LadderPorts['condense'] = ({ view }) => {
    if (asked.onDevice === 'failing') return Promise.reject(new NightshiftError('PROVIDER_UNAVAILABLE', 'connection refused'));
    const part = view.messages[0]?.body.case === 'user' ? view.messages[0].body.value.parts[0] : undefined;
    return Promise.resolve(part?.kind.case === 'text' ? `short form of ${part.kind.value.length} characters` : '');
  };
  return {
    ...(asked.summarizer === 'none' ? {} : { summarize }),
    ...(asked.onDevice === 'none' ? {} : { condense }),
    clock: () => now,
  };
}
