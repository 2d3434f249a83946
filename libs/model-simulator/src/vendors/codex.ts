import { openai, refuseAsOpenAi } from './openai';
import type { Vendor } from './vendor';

const DEFAULT_RESET_SECONDS = 13_872;

/** The backend of the Codex CLI: Responses only, overflow always inside the stream, limits of a plan instead of quotas. */
export const codex: Vendor = {
  ...openai,
  capsOutput: false,
  refusesInStream: true,
  refuse: (problem, context) => {
    if (problem.kind !== 'quota') return refuseAsOpenAi(problem, context);
    const seconds = problem.resetsInSeconds ?? DEFAULT_RESET_SECONDS;
    const resetsAt = Math.floor(context.nowMs / 1000) + seconds;
    return {
      status: 429,
      headers: {
        'x-codex-primary-used-percent': '100',
        'x-codex-primary-window-minutes': '300',
        'x-codex-secondary-window-minutes': '10080',
        'x-codex-primary-reset-after-seconds': String(seconds),
        'x-codex-primary-reset-at': String(resetsAt),
        'x-codex-credits-has-credits': 'False',
        'x-codex-plan-type': 'plus',
      },
      body: {
        error: {
          type: 'usage_limit_reached',
          message: 'The usage limit has been reached',
          plan_type: 'plus',
          resets_at: resetsAt,
          resets_in_seconds: seconds,
        },
      },
    };
  },
};
