import { metric, quantile, rate } from '../names';
import { dashboard } from './dashboard';
import { graph, row } from './panel';

const w = '$__rate_interval';
const where = { provider: '=~"$provider"' };

export const providers = () =>
  dashboard(
    'nightshift-providers',
    'Nightshift: providers',
    'Health, fallbacks, breakers, latency and tokens per provider.',
    [
      graph({
        title: 'Attempts by outcome',
        unit: 'reqps',
        stack: true,
        queries: { '{{outcome}}': rate('provider_attempts', w, { by: ['outcome'], where }) },
      }),
      graph({
        title: 'Error ratio',
        unit: 'percentunit',
        queries: { '{{provider}}': 'nightshift:provider_attempts:error_ratio_rate5m{provider=~"$provider"}' },
      }),
      graph({
        title: 'Fallbacks by reason',
        unit: 'reqps',
        queries: { '{{reason}}': rate('provider_fallbacks', w, { by: ['reason'] }) },
      }),
      graph({ title: 'Chains exhausted', queries: { exhausted: rate('provider_chain_exhausted', w) } }),
      row('Breakers'),
      graph({
        title: 'Breaker state (0 closed, 1 half open, 2 open)',
        queries: { '{{provider}}/{{model}}': `max by (provider, model) (${metric('provider_breaker_state', where)})` },
      }),
      graph({
        title: 'Breaker trips',
        queries: { '{{provider}}/{{model}}': rate('provider_breaker_trips', w, { by: ['provider', 'model'], where }) },
      }),
      row('Latency'),
      graph({
        title: 'First content, p95',
        unit: 's',
        queries: { '{{provider}}': quantile(0.95, 'provider_first_content_seconds', w, ['provider']) },
      }),
      graph({
        title: 'Whole call, p95',
        unit: 's',
        queries: { '{{provider}}': quantile(0.95, 'provider_attempt_duration_seconds', w, ['provider']) },
      }),
      row('Tokens and truth'),
      graph({
        title: 'Tokens',
        queries: { '{{provider}}/{{model}} {{kind}}': rate('provider_tokens', w, { by: ['provider', 'model', 'kind'], where }) },
      }),
      graph({
        title: 'Overflows, output caps, silent truncations',
        queries: {
          'overflow {{provider}}': rate('provider_overflows', w, { by: ['provider'], where }),
          'output cap {{provider}}': rate('provider_output_caps', w, { by: ['provider'], where }),
          'silent truncation {{provider}}': rate('provider_silent_truncations', w, { by: ['provider'], where }),
        },
      }),
      graph({
        title: 'Windows by source',
        stack: true,
        queries: { '{{source}}': `max by (source) (${metric('window_source')})` },
      }),
      graph({
        title: 'Polls of local servers',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('window_polls', w, { by: ['outcome'] }) },
      }),
    ],
    [{ name: 'provider', label: 'Provider', query: `label_values(${metric('provider_attempts')}, provider)` }],
  );
