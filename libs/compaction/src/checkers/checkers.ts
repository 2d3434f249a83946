import type { transcript } from '@nightshift/contracts';
import { checkAnthropic } from './anthropic';
import { checkOpenaiChat } from './openai-chat';
import { checkOpenaiResponses } from './openai-responses';
import type { CheckOptions, Violation } from './violation';

export type Protocol = 'anthropic' | 'openaiChat' | 'openaiResponses';

/** What each provider would say to a view; an empty list = it is accepted. */
export const checkers: Readonly<Record<Protocol, (view: transcript.View, options?: CheckOptions) => Violation[]>> = {
  anthropic: checkAnthropic,
  openaiChat: checkOpenaiChat,
  openaiResponses: checkOpenaiResponses,
};
