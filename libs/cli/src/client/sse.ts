/** One event of a stream. */
export interface ServerEvent {
  event: string;
  data: string;
  id?: string;
}

/**
 * Reads an event stream that arrives in pieces cut anywhere.
 * Feed it text; it calls back with every complete event. Comments (heartbeats) are dropped.
 */
export class EventReader {
  private rest = '';
  private fields: Partial<ServerEvent> & { lines: string[] } = { lines: [] };

  constructor(private readonly onEvent: (event: ServerEvent) => void) {}

  feed(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  private line(line: string): void {
    if (line === '') {
      const { lines, event, id } = this.fields;
      this.fields = { lines: [] };
      if (lines.length > 0) this.onEvent({ event: event ?? 'message', data: lines.join('\n'), id });
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.fields.lines.push(value);
    else if (name === 'event') this.fields.event = value;
    else if (name === 'id') this.fields.id = value;
  }
}
