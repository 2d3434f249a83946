import { addressOf } from '../address';
import { openAiClient } from '../openai-client';
import type { Exchange } from '../../transport/exchange';
import type { Address, Target } from '../format';
import { sdkRequest } from '../sdk-request';

/** POST /chat/completions through the official SDK. */
export function call(target: Target, body: string, exchange: Exchange): Promise<void> {
  return sdkRequest(exchange, (options) =>
    openAiClient(target)
      .post('/chat/completions', { ...options, body })
      .asResponse(),
  );
}

/** The same route for requests that pass through. */
export const address = (target: Target): Address => addressOf(target, '/chat/completions', {});
