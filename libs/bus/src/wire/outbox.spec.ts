import { Outbox } from './outbox';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('what leaves in one turn of the event loop', () => {
  let sent: string[];
  let outbox: Outbox;
  const push = (...names: string[]): void => names.forEach((name) => outbox.push(() => sent.push(name)));
  beforeEach(() => {
    sent = [];
    outbox = new Outbox();
  });

  it('goes at once when it is alone, and together at the end of the turn otherwise', async () => {
    push('a', 'b');
    await Promise.resolve();
    push('c');
    expect(sent).toEqual(['a']);
    await turn();
    expect(sent).toEqual(['a', 'b', 'c']);
    push('d');
    expect(sent).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is handed over before the connection closes', () => {
    push('a', 'b', 'c');
    outbox.flush();
    expect(sent).toEqual(['a', 'b', 'c']);
  });

  it('stays in order when a message makes another one', async () => {
    push('a');
    outbox.push(() => push('c'));
    push('b');
    await turn();
    await turn();
    expect(sent).toEqual(['a', 'b', 'c']);
  });
});
