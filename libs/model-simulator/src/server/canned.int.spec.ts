import OpenAI from 'openai';
import { startSimulator } from './simulator';

it('the ready answer under /bench serves both forms, and leaves no line in the log', async () => {
  const simulator = await startSimulator({ config: { bench: { deltas: 5 } } });
  try {
    const openai = new OpenAI({ apiKey: 'k', baseURL: `${simulator.url}/bench/v1`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'go' }];
    const whole = await openai.chat.completions.create({ model: 'any', messages });
    const deltas: string[] = [];
    for await (const chunk of await openai.chat.completions.create({ model: 'any', messages, stream: true }))
      deltas.push(chunk.choices[0]?.delta.content ?? '');
    expect([whole.choices[0]?.message.content, deltas.join(''), simulator.requests()]).toEqual([
      'w1 w2 w3 w4 w5 ',
      'w1 w2 w3 w4 w5 ',
      [],
    ]);
  } finally {
    await simulator.stop();
  }
});
