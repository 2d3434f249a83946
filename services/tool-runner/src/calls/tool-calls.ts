import { Injectable } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { crashPoint } from '@nightshift/config';
import {
  isNightshiftError,
  NightshiftError,
  routes,
  type tool,
  type ToolEffect,
  transcript,
  workspaceTools,
  isWorkspaceTool,
} from '@nightshift/contracts';
import { withSpan } from '@nightshift/metrics';
import { Runner } from '../runner';
import { findBeneath } from '../files/beneath';
import { readWhole, sha256 } from '../files/contents';
import { limitsOf } from '../sandbox/limits';
import { answer as answerOf, cancelled, failure } from '../tools/answer';
import { planCall } from '../tools/plan-call';
import type { Answer, Plan, ToolContext } from '../tools/tool';
import type { Workspace } from '../workspaces/workspace';
import type { Journal } from './journal';
import { LiveOutput } from './live-output';
import { finishedOf, spillOf } from './publish';
import { openCall } from './redelivery';
import { recordedOf } from './seen-files';

/** What a delivery is about. */
export interface Call {
  team: string;
  taskId: string;
  callId: string;
  delivery: number;
}

interface Ran {
  answer: Answer;
  ms: number;
  replayed: boolean;
}

/** Claim → journal → run → journal → store → report. */
@Injectable()
export class ToolCalls {
  constructor(
    private readonly bus: Bus,
    private readonly runner: Runner,
  ) {}

  /** Resolves when the call is reported, or is not ours any more; rejects for faults after which the message shall come again. */
  async take(call: Call, shutdown: AbortSignal): Promise<void> {
    const { running } = this.runner;
    const already = running.find(call.team, call.callId);
    if (already) {
      this.count('attached', '');
      return already.done;
    }
    const stop = (): void => void running.abort('shutdown', call.team, call.taskId);
    shutdown.addEventListener('abort', stop, { once: true });
    try {
      await running.run(call.team, call.taskId, call.callId, (signal) => this.run(call, signal));
    } finally {
      shutdown.removeEventListener('abort', stop);
    }
  }

  private async run(call: Call, signal: AbortSignal): Promise<void> {
    const { team, taskId } = call;
    this.runner.lease.require(Date.now());
    const claim = await this.claim(call, signal);
    // Closed or cancelled: somebody else has recorded an outcome, nothing is left to do.
    if (!claim.granted) return;
    // Names and ids only: arguments and results stay out of traces.
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': claim.tool,
      'gen_ai.tool.call.id': call.callId,
      'gen_ai.conversation.id': taskId,
    };
    const { answer, ms, replayed } = await withSpan(`execute_tool ${claim.tool}`, attributes, () =>
      this.answerTo(call, claim, signal),
    );
    this.runner.seen.learn(team, taskId, answer);
    await this.report(call, claim, { answer, ms, replayed });
  }

  private async claim({ team, taskId, callId, delivery }: Call, signal: AbortSignal): Promise<tool.ClaimReply> {
    try {
      return await this.bus.request(routes.toolClaim, { taskId, callId, runner: this.runner.id, delivery }, { team, signal });
    } catch (error) {
      // The reason tells whether the call is still wanted: "cancelled" leaves the queue, anything else comes again.
      throw signal.aborted ? signal.reason : error;
    }
  }

  private async answerTo(call: Call, claim: tool.ClaimReply, signal: AbortSignal): Promise<Ran> {
    const started = performance.now();
    const since = (answer: Answer, replayed = false): Ran => ({ answer, ms: Math.round(performance.now() - started), replayed });
    // A stop that overtook its call: checked after the abort handle is there and before anything is spent.
    throwUnlessCancelled(signal);
    if (signal.aborted || this.runner.stopped.has(call.team, call.taskId, Date.now())) {
      return since(cancelled(`${claim.tool} was not started: the task was cancelled.`));
    }
    let workspace: Workspace;
    try {
      workspace = await this.runner.workspaces.get(call.team, claim.workspaceId);
    } catch (error) {
      return since(failure(NightshiftError.from(error).message));
    }
    const journal = await this.runner.journals.of(workspace);
    const journaled = await journal.find(call.callId);
    const opening = openCall(journaled, await this.hashNow(workspace, journaled.started?.intent?.path));
    if (opening.do === 'publish') {
      this.count('replayed', claim.tool);
      if (!journaled.answer) await journal.result(call.callId, opening.answer);
      return since(opening.answer, true);
    }
    return since(await this.execute(call, claim, workspace, journal, signal));
  }

  private async execute(
    call: Call,
    claim: tool.ClaimReply,
    workspace: Workspace,
    journal: Journal,
    signal: AbortSignal,
  ): Promise<Answer> {
    const live = new LiveOutput((text) =>
      this.bus.live(
        routes.toolOutput,
        { taskId: call.taskId, callId: call.callId, text },
        { team: call.team, task: call.taskId },
      ),
    );
    let plan: Plan;
    try {
      plan = await planCall(claim.tool, claim.argumentsJson, this.contextOf(call, claim, workspace, signal, live));
    } catch (error) {
      throwUnlessCancelled(signal);
      // Nothing was begun, so nothing is written down: a repetition fails the same way.
      return asAnswer(error, claim.tool, signal);
    }
    const effect = isWorkspaceTool(claim.tool) ? workspaceTools[claim.tool].effect : 'effectful';
    if (effect !== 'read-only') await this.runner.workspaces.beforeChange(call.team, claim.workspaceId, signal);
    const started = { tool: claim.tool, effect, ...(plan.intent ? { intent: plan.intent } : {}) };
    await this.written(effect, journal.started(call.callId, started));
    // Window: started, no effect yet (or, for a command, an effect nobody saw).
    crashPoint('tool-running');
    let answer: Answer;
    try {
      answer = await plan.perform();
    } catch (error) {
      // A read that was cut off for our own reasons simply runs again.
      if (effect === 'read-only') throwUnlessCancelled(signal);
      answer = asAnswer(error, claim.tool, signal);
    } finally {
      live.flush();
    }
    // Window: the effect took place, nothing says so.
    crashPoint('tool-performed');
    await this.written(effect, journal.result(call.callId, answer));
    // Window: the result is safe and nobody has heard of it.
    crashPoint('tool-result-journaled');
    return answer;
  }

  /** A read may be repeated, so it does not wait for its lines of the journal, and a full disk does not fail it. */
  private async written(effect: ToolEffect, line: Promise<void>): Promise<void> {
    if (effect !== 'read-only') return line;
    line.catch((error: unknown) => this.runner.logger.warn({ error }, 'a line of the journal was not written'));
  }

  /** Large content goes to the store first: the report names it. Both may be repeated. */
  private async report(call: Call, claim: tool.ClaimReply, { answer, ms, replayed }: Ran): Promise<void> {
    const { team, taskId, callId } = call;
    const spill = spillOf(answer, claim.spillChars || Number.MAX_SAFE_INTEGER);
    const stored = spill && (await this.put(call, claim, spill));
    const facts = { taskId, callId, tool: claim.tool, runner: this.runner.id, ms, replayed };
    await this.bus.command(routes.toolFinished, finishedOf(answer, facts, spill, stored), {
      team,
      messageId: `${callId}:finished:${call.delivery}`,
    });
    this.count(metricOutcome(answer), claim.tool);
    this.runner.metrics.histogram('tool_run_duration_seconds').observe({ tool: knownName(claim.tool) }, ms / 1000);
  }

  private async put(call: Call, claim: tool.ClaimReply, spill: NonNullable<ReturnType<typeof spillOf>>) {
    const reply = await this.bus.request(
      routes.toolresultPut,
      {
        rootId: claim.rootId || call.taskId,
        taskId: call.taskId,
        callId: call.callId,
        tool: claim.tool,
        content: spill.content,
        mediaType: spill.mediaType,
        sourcePath: spill.sourcePath,
        sourceSha256: spill.sourceSha256,
      },
      { team: call.team },
    );
    return { id: reply.id, sha256: reply.sha256, bytes: reply.bytes };
  }

  private contextOf(
    call: Call,
    claim: tool.ClaimReply,
    workspace: Workspace,
    signal: AbortSignal,
    live: LiveOutput,
  ): ToolContext {
    const recorded = recordedOf(claim.seen);
    return {
      team: call.team,
      taskId: call.taskId,
      callId: call.callId,
      workspace,
      limits: limitsOf(claim.policy, claim.timeoutMs),
      policy: claim.policy,
      readChars: readChars(claim),
      generation: claim.generation,
      recorded,
      lastSeen: this.runner.seen.lastSeen(call.team, call.taskId, recorded),
      contents: this.runner.contents,
      commands: this.runner.commands,
      ripgrep: this.runner.ripgrep,
      signal,
      onText: (text) => live.push(text),
    };
  }

  private async hashNow(workspace: Workspace, path: string | undefined): Promise<string> {
    if (path === undefined) return '';
    try {
      const place = findBeneath(workspace.record.path, path);
      try {
        const content = await readWhole(place);
        return content ? sha256(content) : '';
      } finally {
        place.close();
      }
    } catch (error) {
      // Neither the old nor the new content is there: "unreadable" is a hash that equals nothing.
      if (isNightshiftError(error)) return error.code === 'NOT_FOUND' ? '' : 'unreadable';
      throw error;
    }
  }

  private show(call: Call, text: string): void {
    try {
      this.bus.live(
        routes.toolOutput,
        { taskId: call.taskId, callId: call.callId, text },
        { team: call.team, task: call.taskId },
      );
    } catch (error) {
      // Live output has no guarantee: without a connection it is lost, and the call goes on.
      this.runner.logger.debug({ error: NightshiftError.from(error), callId: call.callId }, 'live output was dropped');
    }
  }

  private count(outcome: 'ok' | 'error' | 'timeout' | 'killed' | 'replayed' | 'attached' | 'unknown', name: string): void {
    this.runner.metrics.counter('tool_runs').inc({ tool: knownName(name), outcome });
  }
}

/** Characters for a page of a file when the claim does not say. */
const defaultReadChars = 20_000;

/** A read never spills: what does not fit is had by range. Room is left for the line that says so. */
function readChars(claim: tool.ClaimReply): number {
  const most = Math.min(claim.readChars || defaultReadChars, claim.spillChars || defaultReadChars, defaultReadChars);
  return Math.max(200, most - 200);
}

/** The end of a runner is not the end of a call: what was aborted for it goes back to the queue. */
function throwUnlessCancelled(signal: AbortSignal): void {
  if (signal.aborted && isNightshiftError(signal.reason) && signal.reason.code !== 'CANCELLED') throw signal.reason;
}

/** A fault as the model reads it: it failed without an effect, unless the call was cut off. */
function asAnswer(error: unknown, name: string, signal: AbortSignal): Answer {
  if (!signal.aborted) return failure(NightshiftError.from(error).message);
  const { code, text } = NightshiftError.from(signal.reason);
  const said = `${name} was stopped: ${text}.`;
  return code === 'CANCELLED' ? cancelled(said) : answerOf(said, { isError: true, outcome: transcript.ToolOutcome.UNKNOWN });
}

function metricOutcome(answer: Answer): 'ok' | 'error' | 'killed' | 'unknown' {
  if (answer.outcome === transcript.ToolOutcome.CANCELLED) return 'killed';
  if (answer.outcome === transcript.ToolOutcome.UNKNOWN) return 'unknown';
  return answer.isError ? 'error' : 'ok';
}

/** A label has few values, whatever a model calls. */
function knownName(name: string): string {
  return isWorkspaceTool(name) ? name : 'unknown';
}
