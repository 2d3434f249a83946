import { EventReader, type ServerEvent } from './sse';

const stream =
  'retry: 1000\n\n: heartbeat\n\nid: 7\nevent: task\ndata: {"a":1}\n\ndata: one\r\ndata: two\r\n\r\nevent: end\ndata: {}\n\n';
const expected: ServerEvent[] = [
  { event: 'task', data: '{"a":1}', id: '7' },
  { event: 'message', data: 'one\ntwo', id: undefined },
  { event: 'end', data: '{}', id: undefined },
];

describe('EventReader', () => {
  it.each([1, 2, 3, 7, 1000])('reads the same events from pieces of %d characters', (size) => {
    const seen: ServerEvent[] = [];
    const reader = new EventReader((event) => seen.push(event));
    for (let at = 0; at < stream.length; at += size) reader.feed(stream.slice(at, at + size));
    expect(seen).toEqual(expected);
  });
});
