/** Names under which the simulator's models appear; "simulator" is in each, so that nobody takes them for real ones. */
export const primary = { provider: 'simulator-anthropic', model: 'simulator-primary-64k' } as const;
export const fallback = { provider: 'simulator-openai', model: 'simulator-fallback-200k' } as const;
export const sampleChain = [primary, fallback].map(({ provider, model }) => `${provider}/${model}`);

const primaryWindow = 64_000;
const fallbackWindow = 200_000;
/** Until then the primary model fills its window again and again. */
const summariesBeforeLimit = 2;
/** Longer than the gateway waits for one candidate, so the task moves on at once. */
const retryAfterSeconds = 45;
/** Slow enough to be watched, fast enough not to bore. */
const latency = { firstTokenMs: 60, tokensPerSecond: 900 };

/** The simulator's own configuration. */
export function simulatorConfig(): object {
  const script = { name: 'sample', files: 42, smallestBytes: 5_500 };
  return {
    models: {
      [primary.model]: {
        format: 'anthropic',
        window: primaryWindow,
        outputMax: 8_192,
        script,
        latency,
        faults: [
          {
            name: 'rate limit that moves the task',
            // Never a summary: its 429 would open the breaker, and the task would move for that instead. And always, so that a
            // gateway killed during the one limited request does not find the limit gone.
            when: { afterSummaries: summariesBeforeLimit, summary: false },
            times: 'always',
            action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: retryAfterSeconds } },
          },
        ],
      },
      [fallback.model]: { format: 'openai-chat', window: fallbackWindow, outputMax: 16_384, script, latency },
    },
  };
}

/** The two providers as nightshift.yaml names them. */
export function simulatorProviders(url: string): Record<string, object> {
  return {
    [primary.provider]: {
      vendor: 'anthropic-compatible',
      base_url: `${url}/anthropic`,
      api_key_env: simulatorKeyName,
      models: { [primary.model]: { window: primaryWindow, output_max: 8_192 } },
    },
    [fallback.provider]: {
      vendor: 'openai-compatible',
      base_url: `${url}/openai/v1`,
      api_key_env: simulatorKeyName,
      models: { [fallback.model]: { window: fallbackWindow, output_max: 16_384 } },
    },
  };
}

export const simulatorKeyName = 'NIGHTSHIFT_SIMULATOR_KEY';

/**
 * What a provider did wrong is remembered per key and over restarts, so with the key of an earlier start the sample would
 * find its primary model still avoided for that start's rate limit.
 * @param start tells this start from others
 */
export function simulatorKeys(start: string): Record<string, string> {
  return { [simulatorKeyName]: `simulator-needs-no-secret-${start}` };
}
