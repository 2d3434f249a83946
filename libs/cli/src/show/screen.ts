/** Where output goes; the terminal in the program, a buffer in tests. */
export interface Output {
  write(text: string): void;
  /** Lines may be rewritten in place. */
  readonly live: boolean;
  readonly columns: number;
}

export const standardOutput: Output = {
  write: (text) => void process.stdout.write(text),
  get live() {
    return Boolean(process.stdout.isTTY);
  },
  get columns() {
    return process.stdout.columns || 120;
  },
};

/**
 * Lines that scroll, with one status line that stays below them. Where nothing can be rewritten (a pipe, a log), the
 * status is printed as a line of its own whenever it has changed and `settle` is called.
 */
export class Screen {
  private status = '';
  private shown = '';

  constructor(private readonly out: Output) {}

  line(text: string): void {
    this.clear();
    this.out.write(`${text}\n`);
    this.draw();
  }

  setStatus(text: string): void {
    if (text === this.status) return;
    this.clear();
    this.status = text;
    this.draw();
  }

  /** Prints the status where it cannot stay at the bottom. */
  settle(): void {
    if (this.out.live || this.status === this.shown) return;
    this.shown = this.status;
    this.out.write(`${this.status}\n`);
  }

  /** Leaves the status as the last line. */
  end(): void {
    if (this.out.live && this.status) this.out.write('\n');
    this.settle();
    this.status = '';
  }

  private draw(): void {
    if (this.out.live && this.status) this.out.write(this.status.slice(0, this.out.columns - 1));
  }

  private clear(): void {
    if (this.out.live && this.status) this.out.write('\r\x1b[2K');
  }
}
