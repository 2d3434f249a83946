/**
 * What leaves in one turn of the event loop goes to the server in two writes at most: the first message at once, the others
 * together at the end of the turn. Under load a write to a socket costs more than most handlers; alone, nothing waits.
 */
export class Outbox {
  private waiting: (() => void)[] = [];
  private turn: NodeJS.Immediate | undefined;

  /** @param send publishes one message; must not throw. In order with all others. */
  push(send: () => void): void {
    if (this.turn !== undefined) {
      this.waiting.push(send);
      return;
    }
    this.turn = setImmediate(() => this.flush());
    send();
  }

  /** Hands over what waits, at once: before whatever closes the connection. */
  flush(): void {
    clearImmediate(this.turn);
    const sends = this.waiting;
    this.waiting = [];
    for (const send of sends) send();
    // What was made while these were sent comes after them, in the next turn.
    this.turn = this.waiting.length > 0 ? setImmediate(() => this.flush()) : undefined;
  }
}
