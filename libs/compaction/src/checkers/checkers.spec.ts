import { clone, create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { all, mutations, validView } from '../conformance/mutations';
import { checkers } from './checkers';

const { ViewSchema, ViewMessageSchema } = transcript;

test('the unbroken view is accepted by all', () => {
  expect(all.map((protocol) => checkers[protocol](validView(), { sending: true }))).toEqual([[], [], []]);
});

test.each(mutations)('%s', (_name, mutate, refusedBy) => {
  const view = clone(ViewSchema, validView());
  mutate(view);
  expect(all.filter((protocol) => checkers[protocol](view).length > 0)).toEqual(refusedBy);
});

test('a view that is about to be sent ends with something to answer', () => {
  const view = validView();
  view.messages.push(
    create(ViewMessageSchema, { body: { case: 'assistant', value: { blocks: [{ kind: { case: 'text', value: 'done' } }] } } }),
  );
  expect(all.map((protocol) => checkers[protocol](view, { sending: true }).map(({ rule }) => rule))).toEqual([
    ['ends-with-user'],
    ['ends-with-user'],
    ['ends-with-user'],
  ]);
  expect(all.flatMap((protocol) => checkers[protocol](view))).toEqual([]);
});
