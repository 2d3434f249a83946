import { clone } from '@bufbuild/protobuf';
import { crashPoint } from '@nightshift/config';
import { llm, NightshiftError, toMs } from '@nightshift/contracts';
import { performCall } from '../core/complete';
import type { GatewayDeps } from '../core/gateway-deps';
import type { CallContext, Terminal } from '../core/gateway-event';
import { callKeyOf, keyText, type CallKey } from '../ledger/call-key';
import type { CallStore } from '../ledger/call.store';
import type { StoppedTasks, StopHandle } from '../stop/stopped-tasks';
import { StopSource, type StopSignal } from '../transport/stop-signal';
import { DeltaPublisher } from './delta-publisher';
import { tracedCall, type MeasuredCall } from './traced-call';

export interface Caller {
  team: string;
  signal: StopSignal;
  deadlineMs: number;
  /** The request as it came; absent = it is encoded once more. */
  encoded?: Uint8Array;
}

export interface DeskHooks {
  live(team: string, delta: Parameters<ConstructorParameters<typeof DeltaPublisher>[1]>[0]): void;
  joined(how: 'joined' | 'replayed'): void;
  onStoreFault(error: unknown): void;
  /** Called once per logical call. */
  measured?: (call: MeasuredCall) => void;
}

/** What a stop wants to know of the calls it ended. */
export interface StoppedCall {
  tokensBilled: number;
  lastByteAt: number;
  closedAt: number;
}

/** One running call with everybody who waits for it. */
class RunningCall implements StopHandle {
  readonly stopped = new StopSource();
  readonly ended: StoppedCall = { tokensBilled: 0, lastByteAt: 0, closedAt: 0 };
  answer: Promise<llm.CompleteReply> = Promise.resolve(undefined as never);
  /** Set once it is answered. */
  reply: llm.CompleteReply | undefined;
  /** The outcome is in the ledger. */
  stored: Promise<void> = Promise.resolve();
  waiting = 0;

  abort(reason: NightshiftError): void {
    this.stopped.abort(reason);
  }

  settled(): Promise<void> {
    return this.answer.then(
      () => undefined,
      () => undefined,
    );
  }
}

const lookAgainMs = 250;

/**
 * Takes calls of tasks: every call is claimed in Postgres before anything is spent, so that a repeated request joins the
 * running call or gets the stored answer. A call runs as long as anybody waits for it.
 */
export class CallDesk {
  private readonly running = new Map<string, RunningCall>();

  constructor(
    private readonly deps: GatewayDeps,
    private readonly store: CallStore,
    private readonly stops: StoppedTasks,
    private readonly hooks: DeskHooks,
  ) {}

  get inFlight(): number {
    return this.running.size;
  }

  /** @throws NightshiftError the terminal error of the call, or CANCELLED */
  async complete(request: llm.CompleteRequest, caller: Caller): Promise<llm.CompleteReply> {
    if (!request.taskId) throw new NightshiftError('INVALID_ARGUMENT', 'task_id: expected the task that the call belongs to');
    this.stops.check(caller.team, request.taskId);
    const key = callKeyOf(caller.team, request, caller.encoded);
    const text = keyText(key);
    let call = this.running.get(text);
    if (call?.reply) {
      this.hooks.joined('replayed');
      return replayOf(call.reply);
    }
    if (call) this.hooks.joined('joined');
    else {
      call = new RunningCall();
      this.running.set(text, call);
      const mine = call;
      call.answer = this.answer(request, key, caller, mine);
      void this.forgetWhenStored(text, mine);
      // Everybody who waits gets the rejection; a call that nobody waits for any more must not end the process.
      call.answer.catch(() => undefined);
    }
    return this.waitFor(call, caller);
  }

  /** Waits for outcomes that are on their way to the ledger. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.running.values()].map((call) => call.settled().then(() => call.stored)));
  }

  private async forgetWhenStored(text: string, call: RunningCall): Promise<void> {
    await call.settled();
    // A failed write leaves the row to its lease: the call will look lost, and be paid for again if it is asked for again.
    await call.stored.catch((error: unknown) => this.hooks.onStoreFault(error));
    this.running.delete(text);
  }

  private waitFor(call: RunningCall, caller: Caller): Promise<llm.CompleteReply> {
    call.waiting++;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        caller.signal.removeEventListener('abort', gone);
        call.waiting--;
      };
      const gone = (): void => {
        leave();
        const reason = NightshiftError.from(caller.signal.reason);
        if (call.waiting === 0) call.stopped.abort(reason);
        reject(reason);
      };
      if (caller.signal.aborted) return gone();
      caller.signal.addEventListener('abort', gone, { once: true });
      call.answer.then(
        (reply) => (leave(), resolve(reply)),
        (error: unknown) => (leave(), reject(NightshiftError.from(error))),
      );
    });
  }

  private async answer(
    request: llm.CompleteRequest,
    key: CallKey,
    caller: Caller,
    call: RunningCall,
  ): Promise<llm.CompleteReply> {
    const start = request.chain[Math.min(request.chainPosition, request.chain.length - 1)];
    const unregister = this.stops.register(key.team, key.task, call);
    try {
      for (;;) {
        // After registering: a stop that overtook this call is seen here, one that comes later aborts it.
        this.stops.check(key.team, key.task);
        if (call.stopped.aborted) throw NightshiftError.from(call.stopped.reason);
        const claim = await this.store.claim(key, { provider: start?.provider ?? '', model: start?.model ?? '' });
        if (claim.kind === 'mine') return await this.run(request, key, caller, call, claim.attemptsBefore);
        if (claim.kind === 'finished') {
          this.hooks.joined('replayed');
          return replayOf(claim.answer);
        }
        await this.deps.sleep(lookAgainMs, call.stopped);
      }
    } finally {
      unregister();
    }
  }

  private async run(
    request: llm.CompleteRequest,
    key: CallKey,
    caller: Caller,
    call: RunningCall,
    before: number,
  ): Promise<llm.CompleteReply> {
    const signal = call.stopped;
    const unwritten: llm.Attempt[] = [];
    const deps: GatewayDeps = {
      ...this.deps,
      attemptEnded: async (attempt) => {
        attempt.number += before;
        unwritten.push(attempt);
        call.ended.tokensBilled += (attempt.usage?.inputTotal ?? 0) + (attempt.usage?.outputTotal ?? 0);
        call.ended.lastByteAt = Math.max(call.ended.lastByteAt, attempt.httpStatus ? toMs(attempt.endedAtMs) : 0);
        call.ended.closedAt = toMs(attempt.endedAtMs);
        await this.deps.attemptEnded(attempt);
        // The last one goes with the outcome, in one statement.
        if (attempt.outcome !== 'ok' && !signal.aborted) await this.store.record(key, unwritten.splice(0));
      },
    };
    const deltas = request.live
      ? new DeltaPublisher({ taskId: request.taskId, epoch: request.epoch }, (delta) => this.hooks.live(key.team, delta))
      : undefined;
    const context = { team: key.team, signal, deadlineMs: caller.deadlineMs, unstreamed: request.unstreamed };
    const last = await tracedCall(request, () => this.follow(request, context, deps, deltas), this.hooks.measured);
    crashPoint('gateway-before-answer-stored');
    if (last.kind === 'finished') {
      // The caller has its answer at once. Until it is stored this process stays the one that knows it: a repeated request
      // joins here, another replica sees a running call.
      call.reply = last.reply;
      call.stored = this.store.finish(key, unwritten, last.reply);
      return last.reply;
    }
    await this.store.finish(key, unwritten, undefined);
    throw signal.aborted ? NightshiftError.from(signal.reason) : last.error;
  }

  private async follow(
    request: llm.CompleteRequest,
    context: CallContext,
    deps: GatewayDeps,
    deltas: DeltaPublisher | undefined,
  ): Promise<Terminal> {
    const terminal = await performCall(request, context, deps, (event) => {
      if (event.kind !== 'attempt') crashPoint('gateway-inside-call');
      deltas?.add(event);
    });
    deltas?.flush();
    return terminal;
  }
}

function replayOf(answer: llm.CompleteReply): llm.CompleteReply {
  const reply = clone(llm.CompleteReplySchema, answer);
  reply.replayed = true;
  return reply;
}

export { RunningCall };
