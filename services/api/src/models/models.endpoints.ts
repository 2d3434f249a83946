import { provider, registry } from '@nightshift/contracts';
import { z } from 'zod';
import type { Endpoint } from '../http/endpoint';

const tokens = z.int().min(0).max(100_000_000);

export const modelEndpoints = {
  list: {
    id: 'listModels',
    method: 'GET',
    path: '/v1/models',
    tag: 'models',
    summary: 'Every known model window: the figure, where it comes from, and which sources lost.',
    role: 'reader',
    status: 200,
    query: z.strictObject({
      refresh: z.stringbool().default(false).describe('ask the servers first'),
      provider: z.string().max(100).optional(),
    }),
    reply: { kind: 'message', desc: registry.ListWindowsReplySchema },
  },
  override: {
    id: 'overrideModel',
    method: 'PUT',
    path: '/v1/models/override',
    tag: 'models',
    summary: 'Sets the window of a model for the team; 0 or no window takes the override back.',
    role: 'admin',
    status: 200,
    body: z.strictObject({
      provider: z.string().min(1).max(100),
      endpoint: z.string().max(2048).default(''),
      model: z.string().min(1).max(300),
      window: tokens.default(0),
      inputMax: tokens.default(0),
      outputMax: tokens.default(0),
      numCtx: tokens.default(0).describe('sent to Ollama as num_ctx; another value than the loaded one reloads the model'),
    }),
    reply: { kind: 'message', desc: registry.SetOverrideReplySchema },
  },
  providers: {
    id: 'listProviders',
    method: 'GET',
    path: '/v1/providers',
    tag: 'models',
    summary: 'The configured providers with their circuit breakers, each explained.',
    role: 'reader',
    status: 200,
    reply: { kind: 'message', desc: provider.StatusReplySchema },
  },
} as const satisfies Record<string, Endpoint>;
