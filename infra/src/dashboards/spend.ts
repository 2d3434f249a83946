import { increase, rate } from '../names';
import { dashboard } from './dashboard';
import { graph, stat } from './panel';

const where = { team: '=~"$team"' };

export const spend = () =>
  dashboard(
    'nightshift-spend',
    'Nightshift: team spend',
    'Tokens billed per team, as the providers reported them.',
    [
      stat({
        title: 'Input tokens',
        width: 6,
        queries: { input: increase('team_tokens', '$__range', { where: { ...where, kind: 'input' } }) },
      }),
      stat({
        title: 'Output tokens',
        width: 6,
        queries: { output: increase('team_tokens', '$__range', { where: { ...where, kind: 'output' } }) },
      }),
      graph({
        title: 'Tokens by team',
        width: 24,
        stack: true,
        queries: { '{{team}} {{kind}}': rate('team_tokens', '$__rate_interval', { by: ['team', 'kind'], where }) },
      }),
      graph({
        title: 'Tokens by model',
        width: 24,
        stack: true,
        queries: {
          '{{provider}}/{{model}} {{kind}}': rate('provider_tokens', '$__rate_interval', { by: ['provider', 'model', 'kind'] }),
        },
      }),
    ],
    [{ name: 'team', label: 'Team', query: 'label_values(nightshift_team_tokens_total, team)' }],
  );
