import { OutputBuffer } from './output-buffer';

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('bounded output', () => {
  it('short output is kept whole', () => {
    const buffer = new OutputBuffer(100);
    expect(buffer.push(bytes('one\n'))).toBe('one\n');
    buffer.push(bytes('two\n'));
    expect(buffer.text()).toBe('one\ntwo\n');
  });

  it('of long output beginning and end are kept and the middle is counted', () => {
    const buffer = new OutputBuffer(20);
    for (let index = 0; index < 1_000; index++) buffer.push(bytes(`${index % 10}`));
    const [first, gap, last] = /^(\d+)\n\[… (\d+) characters left out …\]\n(\d+)$/.exec(buffer.text())?.slice(1) ?? [];
    expect(first).toBe('0123456789');
    expect(last).toMatch(/0123456789$/);
    expect((first?.length ?? 0) + Number(gap) + (last?.length ?? 0)).toBe(1_000);
    expect(buffer.bytesSeen).toBe(1_000);
  });

  it('what came since a position is given, with the part that is no longer kept counted', () => {
    const buffer = new OutputBuffer(20);
    buffer.push(bytes('abc'));
    const position = buffer.position;
    buffer.push(bytes('def'));
    expect(buffer.since(position)).toBe('def');
    buffer.push(bytes('x'.repeat(100)));
    expect(buffer.since(6)).toMatch(/^xxxx\n\[… \d+ characters left out …\]\nx+$/);
    expect(buffer.since(buffer.position)).toBe('');
  });

  it('a character cut between two chunks comes whole; broken bytes, zero bytes and colours do not come', () => {
    const buffer = new OutputBuffer(100);
    const [euro] = [Buffer.from('€')];
    buffer.push(euro.subarray(0, 1));
    buffer.push(euro.subarray(1));
    buffer.push(Buffer.from([0xff, 0x00]));
    buffer.push(bytes('\u001b[31mred\u001b[0m\u001b]0;title\u0007\r\n'));
    buffer.finish();
    expect(buffer.text()).toBe('€\ufffdred\n');
  });
});
