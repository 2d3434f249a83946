import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { renderView } from '../view/render';
import type { Protocol } from '../checkers/checkers';
import { appendEntries } from './notation';

const { ViewMessageSchema, PartSchema, BlockSchema, ToolResultSchema, UserMessageSchema, AssistantMessageSchema } = transcript;

/** A view with everything in it that a rule is about. */
export function validView(): transcript.View {
  const entries: transcript.Entry[] = [];
  appendEntries(entries, [
    { user: 'go' },
    {
      assistant: 'both',
      reasoning: { text: 'hm', signature: 'sig' },
      calls: [
        { id: 'a', name: 'read' },
        { id: 'b', name: 'search' },
      ],
    },
    { result: 'a', text: 'A' },
    { result: 'b', text: 'B', images: [{ bytes: 10 }] },
    { assistant: '', calls: [{ id: 'c', name: 'read' }] },
    { result: 'c', text: 'C' },
    { user: 'thanks' },
  ]);
  const tools = [create(transcript.ToolSchemaSchema, { name: 'read', description: 'd', inputSchemaJson: '{}' })];
  return renderView({ system: 'rules', tools, entries });
}

const bodyAt = (view: transcript.View, at: number): transcript.ViewMessage['body'] =>
  (view.messages[at] as transcript.ViewMessage).body;
function blocks(view: transcript.View, at: number): transcript.Block[] {
  const body = bodyAt(view, at);
  if (body.case !== 'assistant') throw new Error(`message ${at} is no answer`);
  return body.value.blocks;
}
function results(view: transcript.View, at: number): transcript.ToolResult[] {
  const body = bodyAt(view, at);
  if (body.case !== 'toolResults') throw new Error(`message ${at} holds no results`);
  return body.value.results;
}
function parts(view: transcript.View, at: number): transcript.Part[] {
  const body = bodyAt(view, at);
  if (body.case !== 'user') throw new Error(`message ${at} is no user message`);
  return body.value.parts;
}
function callOf(view: transcript.View, at: number): transcript.ToolCall {
  const found = blocks(view, at).find(({ kind }) => kind.case === 'toolCall');
  if (found?.kind.case !== 'toolCall') throw new Error(`message ${at} holds no call`);
  return found.kind.value;
}
const text = (value: string): transcript.Part => create(PartSchema, { kind: { case: 'text', value } });
const said = (value: string): transcript.ViewMessage =>
  create(ViewMessageSchema, { body: { case: 'user', value: create(UserMessageSchema, { parts: [text(value)] }) } });

export const all: readonly Protocol[] = ['anthropic', 'openaiChat', 'openaiResponses'];

/** Each one breaks a valid view in one place; the protocols named must refuse it, the others must not. */
export const mutations: readonly (readonly [
  name: string,
  mutate: (view: transcript.View) => void,
  refusedBy: readonly Protocol[],
])[] = [
  ['a result is missing', (view) => void results(view, 2).pop(), all],
  ['all results of a message are missing', (view) => void view.messages.splice(4, 1), all],
  ['the calling message is missing', (view) => void view.messages.splice(3, 1), all],
  ['a result comes twice', (view) => void results(view, 2).push(results(view, 2)[0] as transcript.ToolResult), all],
  ['a result names another call', (view) => void ((results(view, 4)[0] as transcript.ToolResult).callId = 'zzz'), all],
  [
    'a result of an earlier round comes again',
    (view) => void results(view, 4).push(create(ToolResultSchema, { callId: 'a', parts: [text('A')] })),
    all,
  ],
  [
    'something stands between call and results',
    (view) => void view.messages.splice(4, 0, said('hold on')),
    ['anthropic', 'openaiChat'],
  ],
  [
    'results stand before their call',
    (view) =>
      void view.messages.splice(3, 2, view.messages[4] as transcript.ViewMessage, view.messages[3] as transcript.ViewMessage),
    all,
  ],
  ['two calls share an id', (view) => void (callOf(view, 3).id = 'a'), all],
  [
    'results of a batch are torn apart',
    (view) => {
      const second = results(view, 2).pop() as transcript.ToolResult;
      view.messages.splice(5, 0, create(ViewMessageSchema, { body: { case: 'toolResults', value: { results: [second] } } }));
    },
    ['anthropic', 'openaiChat'],
  ],
  ['the answer comes first', (view) => void view.messages.shift(), ['anthropic']],
  ['there is nothing', (view) => void view.messages.splice(0), all],
  [
    'an answer says nothing',
    (view) =>
      void view.messages.push(
        create(ViewMessageSchema, { body: { case: 'assistant', value: create(AssistantMessageSchema) } }),
        said('?'),
      ),
    all,
  ],
  [
    'an answer holds blank text',
    (view) => void blocks(view, 1).push(create(BlockSchema, { kind: { case: 'text', value: ' \n' } })),
    ['anthropic'],
  ],
  ['a message is empty', (view) => void parts(view, 0).splice(0), all],
  ['a text is empty', (view) => void parts(view, 0).splice(0, 1, text('')), ['anthropic', 'openaiChat']],
  ['arguments are no JSON', (view) => void (callOf(view, 3).argumentsJson = '{"path":'), all],
  ['arguments are a list', (view) => void (callOf(view, 3).argumentsJson = '[]'), all],
  ['a tool name is no name', (view) => void (callOf(view, 3).name = 'read file'), all],
  [
    'a tool name is too long for one of them',
    (view) => void (callOf(view, 3).name = 'r'.repeat(65)),
    ['openaiChat', 'openaiResponses'],
  ],
  [
    'a call id is too long for one of them',
    (view) => {
      callOf(view, 3).id = 'x'.repeat(50);
      (results(view, 4)[0] as transcript.ToolResult).callId = 'x'.repeat(50);
    },
    ['openaiChat'],
  ],
  [
    'a call id holds a character that is not allowed',
    (view) => {
      callOf(view, 3).id = 'a:b';
      (results(view, 4)[0] as transcript.ToolResult).callId = 'a:b';
    },
    ['anthropic'],
  ],
  ['two tools share a name', (view) => void view.tools.push(view.tools[0] as transcript.ToolSchema), all],
  ['a schema is no JSON', (view) => void ((view.tools[0] as transcript.ToolSchema).inputSchemaJson = 'object'), all],
  ['half a surrogate pair in a user text', (view) => void parts(view, 0).push(text('cut \ud83d')), all],
  ['half a surrogate pair in a result', (view) => void results(view, 4)[0]?.parts.push(text('\ude00 cut')), all],
  ['half a surrogate pair in the system prompt', (view) => void (view.system = '\ud83d'), all],
  [
    'an image of a kind that nobody reads',
    (view) => {
      const image = results(view, 2)[1]?.parts[1]?.kind;
      if (image?.case === 'image') image.value.mediaType = 'image/tiff';
    },
    ['anthropic'],
  ],
  [
    'reasoning lost text and signature',
    (view) => {
      const { kind } = blocks(view, 1)[0] as transcript.Block;
      if (kind.case === 'reasoning') Object.assign(kind.value, { text: '', signature: '' });
    },
    ['anthropic'],
  ],
  [
    'reasoning stands alone at the end of its message',
    (view) => void blocks(view, 3).push(blocks(view, 1)[0] as transcript.Block),
    ['openaiResponses'],
  ],
  ['a part without content', (view) => void parts(view, 0).push(create(PartSchema)), ['anthropic']],
];
