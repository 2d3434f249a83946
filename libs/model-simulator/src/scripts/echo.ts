import type { Script } from './script';

/** Says again what the user said last, without any tool. */
export const echo = (): Script => ({
  next: (conversation) => {
    const last = conversation.turns.at(-1);
    const text =
      last?.role === 'user'
        ? last.texts.join('\n')
        : last?.role === 'results'
          ? last.results.map((result) => result.text).join('\n')
          : '';
    return { text: text === '' ? '(nothing was said)' : text };
  },
});
