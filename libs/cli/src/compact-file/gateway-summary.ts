import { create, fromJson, toJsonString, type JsonValue } from '@bufbuild/protobuf';
import type { SummaryCall } from '@nightshift/compaction';
import type { CandidateName } from '@nightshift/config';
import { errorCodes, llm, NightshiftError, transcript, type ErrorCode } from '@nightshift/contracts';
import { z } from 'zod';

/** Spending of dry runs is told apart from that of tasks by this team id. */
const team = 'compact-file';

const failure = z.object({
  error: z.object({ code: z.string(), message: z.string(), faults: z.array(z.string()).default([]) }),
});
const lastLine = z.union([z.object({ kind: z.literal('finished'), reply: z.unknown() }), failure]);

export interface GatewaySummaries {
  summarize(call: SummaryCall): Promise<transcript.AssistantMessage>;
  /** What no other call would change, such as a model that is not configured: the run says so instead of doing without. */
  fault(): NightshiftError | undefined;
}

/**
 * Summaries by a configured model, through the internal route of the provider gateway.
 * @param url where the gateway is, without a path
 * @throws NightshiftError UNAVAILABLE when nothing answers there, before anything is replayed
 */
export async function gatewaySummaries(url: string, model: CandidateName): Promise<GatewaySummaries> {
  // Any answer will do: an unknown path has one too.
  await ask(url, '/', { method: 'GET' });
  let fault: NightshiftError | undefined;
  return {
    fault: () => fault,
    async summarize(call) {
      try {
        return await complete(url, model, call);
      } catch (thrown) {
        const error = NightshiftError.from(thrown);
        if (hopeless.has(error.code)) fault ??= error;
        throw error;
      }
    },
  };
}

const hopeless: ReadonlySet<ErrorCode> = new Set(['INVALID_ARGUMENT', 'NOT_FOUND', 'PROVIDER_NOT_FOUND', 'PROVIDER_AUTH']);

async function complete(url: string, model: CandidateName, call: SummaryCall): Promise<transcript.AssistantMessage> {
  const request = create(llm.CompleteRequestSchema, {
    purpose: 'summary',
    chain: [create(llm.CandidateSchema, model)],
    view: withDeclaredTools(call.view),
    maxOutputTokens: call.maxOutputTokens,
    measuredInputTokens: call.inputTokens,
    estimatedInputTokens: call.inputTokens,
    toolChoice: 'none',
  });
  const response = await ask(url, '/internal/complete', {
    method: 'POST',
    headers: { 'ns-team': team, 'ns-deadline': String(Date.now() + call.timeoutMs) },
    body: toJsonString(llm.CompleteRequestSchema, request),
    signal: AbortSignal.timeout(call.timeoutMs),
  });
  const text = await response.text();
  const parsed = lastLine.safeParse(jsonOf(text.trimEnd().split('\n').at(-1) ?? ''));
  if (!parsed.success)
    throw new NightshiftError('UNAVAILABLE', `${url}: the answer broke off, or is not that of a provider gateway`);
  if ('error' in parsed.data) {
    const { code, message, faults } = parsed.data.error;
    throw new NightshiftError(code in errorCodes ? (code as ErrorCode) : 'INTERNAL', message, { faults });
  }
  const { message } = fromJson(llm.CompleteReplySchema, parsed.data.reply as JsonValue);
  if (!message) throw new NightshiftError('INTERNAL', 'the gateway answered without a message');
  return message;
}

/** Most session files name no tools, and Anthropic refuses calls of tools that the request does not define. */
function withDeclaredTools(view: transcript.View): transcript.View {
  if (view.tools.length > 0) return view;
  const called = view.messages.flatMap(({ body }) =>
    body.case === 'assistant' ? body.value.blocks.flatMap(({ kind }) => (kind.case === 'toolCall' ? [kind.value.name] : [])) : [],
  );
  const tools = [...new Set(called)].map((name) =>
    create(transcript.ToolSchemaSchema, {
      name,
      description: 'A tool of the recorded session.',
      inputSchemaJson: '{"type":"object"}',
    }),
  );
  return { ...view, tools };
}

async function ask(url: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, init);
  } catch (cause) {
    if (cause instanceof DOMException)
      throw new NightshiftError('DEADLINE_EXCEEDED', 'the model did not answer in time', { cause });
    throw new NightshiftError('UNAVAILABLE', `no provider gateway answers at ${url}`, {
      cause,
      faults: [
        'run `npm start`, or name another one with NIGHTSHIFT_GATEWAY_URL',
        'or take `--summary extractive`, which needs no model',
      ],
    });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is one more shape that is not expected.
    return undefined;
  }
}
