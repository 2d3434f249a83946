import { clone } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { startSimulator } from '@nightshift/model-simulator';
import type { Simulator } from '@nightshift/model-simulator';
import { all, mutations, validView } from '../conformance/mutations';
import { checkers } from './checkers';
import type { Protocol } from './checkers';

/**
 * The strict simulator shares no code with the checkers. Both are shown the same broken views, as the three wire formats,
 * and must agree on each. The wire forms here are the plainest possible: nothing is repaired on the way.
 */
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ config: { models: { 'sim-strict': { window: 200_000, script: 'echo' } } } });
});
afterAll(() => simulator.stop());

type Json = Record<string, unknown>;
const image = ({ mediaType, data }: transcript.Image): { type: string; data: string } => ({
  type: mediaType,
  data: Buffer.from(data).toString('base64'),
});

function anthropic(view: transcript.View): Json {
  const content = ({ kind }: transcript.Part): Json => {
    if (kind.case === 'text') return { type: 'text', text: kind.value };
    if (kind.case !== 'image') return {};
    const { type, data } = image(kind.value);
    return { type: 'image', source: { type: 'base64', media_type: type, data } };
  };
  const messages = view.messages.map(({ body }): Json => {
    if (body.case === 'user') return { role: 'user', content: body.value.parts.map(content) };
    if (body.case === 'toolResults') {
      const results = body.value.results.map((r) => ({
        type: 'tool_result',
        tool_use_id: r.callId,
        content: r.parts.map(content),
      }));
      return { role: 'user', content: results };
    }
    const blocks = (body.value?.blocks ?? []).flatMap(({ kind }): Json[] => {
      if (kind.case === 'text') return [{ type: 'text', text: kind.value }];
      if (kind.case !== 'toolCall') return [];
      return [{ type: 'tool_use', id: kind.value.id, name: kind.value.name, input: parsed(kind.value.argumentsJson) }];
    });
    return { role: 'assistant', content: blocks };
  });
  const tools = view.tools.map((t) => ({
    name: t.name,
    description: t.description,
    input_schema: { type: 'object', ...(parsed(t.inputSchemaJson) as Json) },
  }));
  return { model: 'sim-strict', max_tokens: 100, system: view.system, tools, messages };
}

/** Anthropic takes arguments as JSON, not as text: what is no JSON cannot even be written. */
function parsed(json: string): unknown {
  return JSON.parse(json) as unknown;
}

function openaiChat(view: transcript.View): Json {
  const content = ({ kind }: transcript.Part): Json => {
    if (kind.case === 'image')
      return { type: 'image_url', image_url: { url: `data:${image(kind.value).type};base64,${image(kind.value).data}` } };
    return { type: 'text', text: kind.value ?? '' };
  };
  const messages = view.messages.flatMap(({ body }): Json[] => {
    if (body.case === 'user') return [{ role: 'user', content: body.value.parts.map(content) }];
    if (body.case === 'toolResults')
      return body.value.results.map((r) => ({ role: 'tool', tool_call_id: r.callId, content: textOf(r.parts) }));
    const blocks = body.value?.blocks ?? [];
    const calls = blocks.flatMap(({ kind }): Json[] =>
      kind.case === 'toolCall'
        ? [{ id: kind.value.id, type: 'function', function: { name: kind.value.name, arguments: kind.value.argumentsJson } }]
        : [],
    );
    const said = blocks.map(({ kind }) => (kind.case === 'text' ? kind.value : '')).join('');
    return [{ role: 'assistant', content: said === '' ? null : said, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
  });
  const tools = view.tools.map((t) => ({
    type: 'function',
    function: { name: t.name, description: t.description, parameters: parsed(t.inputSchemaJson) },
  }));
  return { model: 'sim-strict', tools, messages: [{ role: 'system', content: view.system }, ...messages] };
}

function openaiResponses(view: transcript.View): Json {
  const input = view.messages.flatMap(({ body }): Json[] => {
    if (body.case === 'user') {
      return [
        {
          type: 'message',
          role: 'user',
          content: body.value.parts.map(({ kind }) => ({ type: 'input_text', text: kind.case === 'text' ? kind.value : '' })),
        },
      ];
    }
    if (body.case === 'toolResults') {
      return body.value.results.map((r) => ({ type: 'function_call_output', call_id: r.callId, output: textOf(r.parts) }));
    }
    return (body.value?.blocks ?? []).flatMap(({ kind }): Json[] => {
      if (kind.case === 'text')
        return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: kind.value }] }];
      if (kind.case !== 'toolCall') return [];
      return [{ type: 'function_call', call_id: kind.value.id, name: kind.value.name, arguments: kind.value.argumentsJson }];
    });
  });
  const tools = view.tools.map((t) => ({
    type: 'function',
    name: t.name,
    description: t.description,
    parameters: parsed(t.inputSchemaJson),
  }));
  return { model: 'sim-strict', instructions: view.system, tools, input };
}

function textOf(parts: readonly transcript.Part[]): string {
  return parts.map(({ kind }) => (kind.case === 'text' ? kind.value : '')).join('\n');
}

const wires: Readonly<Record<Protocol, { path: string; write: (view: transcript.View) => Json }>> = {
  anthropic: { path: '/anthropic/v1/messages', write: anthropic },
  openaiChat: { path: '/openai/v1/chat/completions', write: openaiChat },
  openaiResponses: { path: '/openai/v1/responses', write: openaiResponses },
};

async function refuses(protocol: Protocol, view: transcript.View): Promise<string | false> {
  const { path, write } = wires[protocol];
  let body: string;
  try {
    body = JSON.stringify(write(view));
  } catch {
    return 'cannot be written';
  }
  const headers = {
    'content-type': 'application/json',
    'x-api-key': 'k',
    authorization: 'Bearer k',
    'anthropic-version': '2023-06-01',
  };
  const response = await fetch(simulator.url + path, { method: 'POST', headers, body });
  const text = await response.text();
  return response.ok ? false : `${response.status} ${text.slice(0, 200)}`;
}

test('the unbroken view is answered in all three formats', async () => {
  expect(await Promise.all(all.map((protocol) => refuses(protocol, validView())))).toEqual([false, false, false]);
});

/**
 * Where the checkers refuse what the simulator lets pass: forms that some server behind a protocol refuses, though not every
 * one. It is never the other way round, and never about calls and results.
 */
const stricter: Readonly<Record<string, readonly Protocol[]>> = {
  'there is nothing': ['openaiChat'],
  'an answer says nothing': ['openaiResponses'],
  'a message is empty': ['openaiResponses'],
  'a text is empty': ['openaiChat'],
  'arguments are no JSON': ['openaiChat', 'openaiResponses'],
  'arguments are a list': ['openaiChat', 'openaiResponses'],
  'a tool name is no name': ['openaiResponses'],
  'a tool name is too long for one of them': ['openaiResponses'],
  'two tools share a name': ['openaiChat', 'openaiResponses'],
  'half a surrogate pair in a user text': ['anthropic', 'openaiChat', 'openaiResponses'],
  'half a surrogate pair in a result': ['anthropic', 'openaiChat', 'openaiResponses'],
  'half a surrogate pair in the system prompt': ['anthropic', 'openaiChat', 'openaiResponses'],
  'reasoning lost text and signature': ['anthropic'],
  'reasoning stands alone at the end of its message': ['openaiResponses'],
};

test.each(mutations.map(([name, mutate]) => [name, mutate] as const))('both say the same: %s', async (name, mutate) => {
  const view = clone(transcript.ViewSchema, validView());
  mutate(view);
  const said = await Promise.all(
    all.map(async (protocol) => ({
      protocol,
      checker: checkers[protocol](view).length > 0,
      simulator: (await refuses(protocol, view)) !== false,
    })),
  );
  expect(said.filter(({ checker, simulator: strict }) => strict && !checker)).toEqual([]);
  expect(said.filter(({ checker, simulator: strict }) => checker && !strict).map(({ protocol }) => protocol)).toEqual(
    stricter[name] ?? [],
  );
});
