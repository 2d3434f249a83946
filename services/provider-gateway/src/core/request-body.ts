import { NightshiftError, type llm } from '@nightshift/contracts';
import type { JsonObject } from '../classify/json';
import type { BuildOptions } from '../formats/format';
import type { Fit } from './fit';
import type { CallContext } from './gateway-event';
import type { Turn } from './turn';

export interface SentBody {
  body: string | Buffer;
  translations: string[];
  /** The caller's own bytes go out and the provider's come back. */
  native: boolean;
}

/**
 * What is sent to one candidate: the caller's own bytes where it speaks the candidate's format (changed only where the
 * model or a repaired output limit demands it), else the view in the candidate's format.
 */
export function bodyFor(
  turn: Turn,
  request: llm.CompleteRequest,
  call: CallContext,
  fit: Fit,
  state: { maxOutput: number; outputRepaired: boolean; reasoningDropped: boolean },
): SentBody {
  const { format } = turn.provider;
  if (call.native?.format === format.name) {
    const changes: JsonObject = {};
    if (call.native.fields.model !== turn.candidate.model) changes.model = turn.candidate.model;
    if (state.outputRepaired) {
      const field = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'].find(
        (name) => call.native?.fields[name] !== undefined,
      );
      if (field) changes[field] = state.maxOutput || undefined;
    }
    const unchanged = Object.keys(changes).length === 0;
    return {
      body: unchanged ? call.native.body : JSON.stringify({ ...call.native.fields, ...changes }),
      translations: [],
      native: true,
    };
  }
  if (!request.view) {
    throw new NightshiftError(
      'INVALID_ARGUMENT',
      `${turn.candidate.provider} speaks ${format.name}, and the request has no view to translate`,
    );
  }
  const built = format.build(request.view, buildOptions(turn, request, call, fit, state));
  return { body: JSON.stringify(built.body), translations: built.translations, native: false };
}

function buildOptions(
  turn: Turn,
  request: llm.CompleteRequest,
  call: CallContext,
  fit: Fit,
  state: { maxOutput: number; reasoningDropped: boolean },
): BuildOptions {
  const choice = request.toolChoice;
  return {
    model: turn.candidate.model,
    provider: turn.provider.id,
    maxOutputTokens: state.maxOutput,
    temperature: request.hasTemperature ? request.temperature : undefined,
    toolChoice: choice === 'none' || choice === 'required' ? choice : 'auto',
    stream: call.unstreamed !== true,
    numCtx: fit.numCtx,
    dropReasoning: state.reasoningDropped,
    quirks: turn.provider.target.quirks,
  };
}
