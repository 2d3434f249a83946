import { NightshiftError } from '@nightshift/contracts';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

type Answer = { readonly id: number; readonly tokens: number } | { readonly id: number; readonly error: string };

interface Waiting {
  resolve(tokens: number): void;
  reject(error: Error): void;
}

/** One worker thread per process: counting a large transcript takes longer than the event loop may be held up. */
class TokenThread {
  private readonly waiting = new Map<number, Waiting>();
  private worker: Worker | undefined;
  private lastId = 0;

  count(texts: readonly string[]): Promise<number> {
    const worker = (this.worker ??= this.start());
    const id = ++this.lastId;
    const answer = new Promise<number>((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    worker.ref();
    worker.postMessage({ id, texts });
    return answer;
  }

  async close(): Promise<void> {
    const worker = this.worker;
    this.worker = undefined;
    await worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(join(__dirname, 'token-worker.cjs'));
    worker.on('message', (answer: Answer) => this.settle(answer));
    worker.on('error', (error) => this.failAll(error));
    worker.on('exit', () => this.failAll(new Error('the token thread ended')));
    return worker;
  }

  private settle(answer: Answer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    // Idle threads must not keep a process alive that has nothing else to do.
    if (this.waiting.size === 0) this.worker?.unref();
    if ('tokens' in answer) waiting?.resolve(answer.tokens);
    else waiting?.reject(new NightshiftError('INTERNAL', `token counting failed: ${answer.error}`));
  }

  private failAll(error: Error): void {
    this.worker = undefined;
    for (const waiting of this.waiting.values()) {
      waiting.reject(new NightshiftError('INTERNAL', `token counting failed: ${error.message}`, { cause: error }));
    }
    this.waiting.clear();
  }
}

const thread = new TokenThread();

/**
 * Exact o200k_base tokens of some texts together, counted in a worker thread.
 * @throws NightshiftError INTERNAL when the thread died; the next call starts a new one
 */
export function confirmTokens(texts: readonly string[]): Promise<number> {
  return thread.count(texts);
}

/** Ends the worker thread; only a process that wants its memory back needs this. */
export function closeTokenThread(): Promise<void> {
  return thread.close();
}
