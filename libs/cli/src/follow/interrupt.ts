import { createInterface } from 'node:readline';

/** What the user wants when Ctrl-C is pressed while following. */
export type Choice = 'detach' | 'cancel' | 'stay';

/** Reads an answer: `d` or nothing more to say detaches, `c` cancels, anything else goes on. */
export function choiceOf(answer: string): Choice {
  const first = answer.trim().toLowerCase().charAt(0);
  if (first === 'c') return 'cancel';
  return first === 'd' ? 'detach' : 'stay';
}

/**
 * Calls back with the choice at every Ctrl-C. Without a terminal, or at a second Ctrl-C, it detaches: a task never ends
 * because somebody closed a window.
 * @returns how to stop listening.
 */
export function onInterrupt(ask: (question: string) => void, decide: (choice: Choice) => void): () => void {
  let asking = false;
  const interrupted = (): void => {
    if (asking || !process.stdin.isTTY) return decide('detach');
    asking = true;
    ask('Ctrl-C: [d] detach, the task goes on · [c] cancel the task · [Enter] go on following');
    const lines = createInterface({ input: process.stdin, output: process.stdout });
    lines.on('SIGINT', () => {
      lines.close();
      decide('detach');
    });
    lines.question('> ', (answer) => {
      asking = false;
      lines.close();
      decide(choiceOf(answer));
    });
  };
  process.on('SIGINT', interrupted);
  return () => process.off('SIGINT', interrupted);
}
