import { create } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { estimateMessages, renderView } from '@nightshift/compaction';
import { crashPoint } from '@nightshift/config';
import { NightshiftError, fromMs, routes, transcript } from '@nightshift/contracts';
import type { llm } from '@nightshift/contracts';
import { v7 } from 'uuid';
import { EventStore } from '../events/event.store';
import { foldAnswer, noteEntry } from '../outcomes/answer';
import { estimate } from '../outcomes/estimate';
import { foldFault } from '../outcomes/provider-fault';
import { EntryStore } from '../tasks/entry.store';
import type { EntryDraft, Outcome } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';
import { boundUsage, resultBounds } from './context';
import type { Context } from './context';
import type { Prepared } from './prepared';

/** Performs one model call of a task and folds its answer. */
@Injectable()
export class ModelCall {
  constructor(
    private readonly bus: Bus,
    private readonly entries: EntryStore,
    private readonly events: EventStore,
  ) {}

  /** Plain estimate of the rendered entries of the current generation: walks all of them, needed once per generation. */
  async viewEstimate(row: TaskRow, prepared: Prepared): Promise<number> {
    return estimateMessages((await this.view(row, prepared, [])).messages);
  }

  /** Every text of the next request, for the tokenizer, and the number of its images. */
  async texts(row: TaskRow, prepared: Prepared): Promise<{ texts: readonly string[]; images: number }> {
    const view = await this.view(row, prepared, []);
    const texts = [view.system, ...view.tools.map((tool) => `${tool.name}${tool.description}${tool.inputSchemaJson}`)];
    let images = 0;
    const parts = (all: readonly transcript.Part[]): void => {
      for (const { kind } of all) {
        if (kind.case === 'text') texts.push(kind.value);
        if (kind.case === 'image') images += 1;
      }
    };
    for (const { body } of view.messages) {
      if (body.case === 'user') parts(body.value.parts);
      if (body.case === 'toolResults') for (const result of body.value.results) parts(result.parts);
      if (body.case === 'assistant') texts.push(...body.value.blocks.map(blockText));
    }
    return { texts, images };
  }

  /**
   * @param waited told how long the answer took, in ms
   * @throws NightshiftError what is no answer of the provider: cancelled, fenced, or a fault of the platform
   */
  async perform(
    row: TaskRow,
    prepared: Prepared,
    context: Context,
    notes: readonly { readonly kind: string; readonly text: string }[],
    signal: AbortSignal,
    waited: (ms: number) => void = () => undefined,
  ): Promise<Outcome> {
    const noted = notes.map(({ kind, text }) => noteEntry({ estimate }, kind, text));
    const started = this.events.append(row, [
      {
        kind: 'model_call_started',
        data: {
          provider: context.candidate.provider,
          model: context.candidate.model,
          ...context.shown,
          tight: context.threshold.tight,
          unknown: context.window.unknown,
          why: context.threshold.why,
          iteration: row.iterations + 1,
        },
      },
    ]);
    try {
      const asked = performance.now();
      const reply = await this.send(row, prepared, context, noted, signal);
      waited(performance.now() - asked);
      crashPoint('orchestrator.answered');
      return foldAnswer({
        row,
        details: prepared.details,
        reply,
        batchBudget: resultBounds(row).batch,
        newId: v7,
        estimate,
        sent: {
          generation: row.generation,
          through: row.lastSeq + noted.length,
          prefix: prepared.prefix,
          prefixEstimate: prepared.prefixEstimate,
          viewEstimate: noted.reduce((sum, entry) => sum + entry.estimate, row.memory.sums.estimate),
          notes: noted,
          offered: prepared.offered,
        },
      });
    } catch (thrown) {
      const error = NightshiftError.from(thrown);
      // Shutdown or a stop: the call goes on elsewhere or not at all, and is no failure of the provider.
      if (signal.aborted) throw error;
      const outcome = foldFault(row, error, prepared.details.chain.length);
      if (!outcome) throw error;
      return outcome;
    } finally {
      await started;
    }
  }

  private async send(
    row: TaskRow,
    prepared: Prepared,
    context: Context,
    notes: readonly EntryDraft[],
    signal: AbortSignal,
  ): Promise<llm.CompleteReply> {
    const view = await this.view(row, prepared, notes);
    const { memory } = row;
    const call = this.bus.request(
      routes.llmComplete,
      {
        taskId: row.id,
        epoch: row.epoch,
        purpose: memory.cuts > 1 ? 'continuation' : 'turn',
        chain: prepared.details.chain.map(({ provider, model, endpoint }) => ({ provider, model, endpoint })),
        chainPosition: row.chainPosition,
        view,
        maxOutputTokens: context.maxOutput,
        measuredInputTokens: context.figures.measured,
        estimatedInputTokens: prepared.prefixEstimate + memory.sums.estimate,
        // A pass that could not get below the threshold of this model must not be asked for again and again.
        enforceThreshold: context.figures.enabled && memory.forcedInARow === 0 && !memory.breaker.open,
        live: true,
        toolChoice: 'auto',
        lastUsage: boundUsage(row),
      },
      { team: row.teamId, signal },
    );
    setImmediate(() => crashPoint('orchestrator.model_call'));
    return call;
  }

  private async view(row: TaskRow, prepared: Prepared, notes: readonly EntryDraft[]): Promise<transcript.View> {
    const { checkpoint, entries } = await this.entries.tail(row);
    const noted = notes.map(({ body }, index) =>
      create(transcript.EntrySchema, { seq: row.lastSeq + index + 1, atMs: fromMs(0), body }),
    );
    const visible = noted.length === 0 ? entries : [...entries, ...noted];
    return renderView({ system: prepared.system, tools: prepared.tools, checkpoint, entries: visible });
  }
}

function blockText({ kind }: transcript.Block): string {
  switch (kind.case) {
    case 'text':
      return kind.value;
    case 'reasoning':
      return kind.value.text;
    case 'toolCall':
      return `${kind.value.name}${kind.value.argumentsJson}`;
    case undefined:
      return '';
  }
}
