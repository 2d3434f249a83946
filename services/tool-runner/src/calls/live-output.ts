/** Milliseconds between two messages, and characters of one. */
const everyMs = 100;
const maxChars = 16_384;

/** Collects the output of a command into at most ten messages a second; of a burst the end is sent. */
export class LiveOutput {
  private text = '';
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly send: (text: string) => void) {}

  push(text: string): void {
    this.text = (this.text + text).slice(-2 * maxChars);
    this.timer ??= setTimeout(() => this.flush(), everyMs);
  }

  /** Sends what is left; to be called at the end. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.text === '') return;
    const text = this.text.slice(-maxChars).toWellFormed();
    this.text = '';
    this.send(text);
  }
}
