import type { CompactionPolicy } from '@nightshift/compaction';
import type { compaction, llm } from '@nightshift/contracts';
import type { Classified } from '../classify/classify';
import type { BreakerBoard } from '../health/breaker-board';
import type { ProviderSlots } from '../health/provider-slots';
import type { ProviderCatalog } from '../providers/catalog';
import type { HttpClient } from '../transport/http-client';
import type { StopSignal } from '../transport/stop-signal';

/** A figure that an error text or a flagged answer taught. */
export interface Observation {
  provider: string;
  endpoint: string;
  model: string;
  kind: 'window' | 'input_max' | 'output_max' | 'accepted';
  tokens: number;
  exactness: 'exact' | 'lower_bound' | 'request_end';
  text: string;
}

/** What is counted; every member must be cheap and must not throw. */
export interface GatewayCounters {
  attempt(attempt: llm.Attempt, failure: Classified | undefined, firstContentMs: number): void;
  fallback(reason: string): void;
  exhausted(): void;
  silentTruncation(provider: string): void;
}

/** Everything that the core takes from the outside. Time, ids and randomness are among it. */
export interface GatewayDeps {
  catalog: ProviderCatalog;
  client: HttpClient;
  breakers: BreakerBoard;
  slots: ProviderSlots;
  policy: CompactionPolicy | undefined;
  windowOf(candidate: llm.Candidate, team: string): compaction.ModelWindow;
  /** Models that are known of a provider, for who asked for another one. */
  modelsOf(provider: string): string[];
  /** Called at the end of every attempt, before its consequences. */
  attemptEnded(attempt: llm.Attempt): Promise<void>;
  observe(observation: Observation, team: string): void;
  counters: GatewayCounters;
  now(): number;
  newId(): string;
  random(): number;
  /** Rejects with the signal's reason when it fires. */
  sleep(ms: number, signal: StopSignal): Promise<void>;
}
