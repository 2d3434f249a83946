import { z } from 'zod';
import { SessionBuilder } from '../builder';
import { expectShape, type SessionFile } from '../records';
import { contentParts } from './content-parts';

const file = z.looseObject({
  agent: z.looseObject({ model_name: z.string().nullish() }).optional(),
  steps: z.array(
    z.looseObject({
      source: z.string(),
      message: z.unknown(),
      model_name: z.string().nullish(),
      reasoning_content: z.string().nullish(),
      tool_calls: z
        .array(z.looseObject({ tool_call_id: z.string(), function_name: z.string(), arguments: z.unknown() }))
        .nullish(),
      observation: z
        .looseObject({
          results: z.array(z.looseObject({ source_call_id: z.string().nullish(), content: z.unknown().optional() })),
        })
        .nullish(),
    }),
  ),
});

/** Results stand inside the step of their calls: paired by id where one is given, else by place. */
export function importAtif(source: SessionFile): SessionBuilder {
  const session = new SessionBuilder();
  const { agent, steps } = expectShape(source, 1, file, source.records[0]?.value);
  for (const step of steps) {
    const parts = contentParts(step.message);
    if (step.source === 'agent') {
      const calls = (step.tool_calls ?? []).map((call) => ({
        call: call.tool_call_id,
        name: call.function_name,
        args: call.arguments,
      }));
      const reasoning = step.reasoning_content ? [{ reasoning: step.reasoning_content }] : [];
      const turn = session.assistant([...reasoning, ...parts.map((part) => ({ text: String(part) })), ...calls], {
        model: step.model_name ?? agent?.model_name ?? '',
      });
      for (const { source_call_id: id, content } of step.observation?.results ?? []) {
        const observed = contentParts(content);
        const paired = id ? session.result(id, observed) : session.answerFirst(turn, observed);
        // An agent that acts by text has observations without calls.
        if (!paired) session.user(observed);
      }
    } else if (step.source === 'system')
      session.note(
        'system',
        [...parts, ...(step.observation?.results ?? []).map(({ content }) => contentParts(content).join('\n'))].join('\n'),
      );
    else session.user(parts);
  }
  return session;
}
