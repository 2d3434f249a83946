import type { FormatName } from '../formats/format';
import { sse } from '../scripted/answers';
import { goodBody, goodStream, someDeltas, streamType } from '../scripted/good-answers';
import type { ScriptedAnswer, Step } from '../scripted/upstream';
import type { CaseAnswer, CaseStep } from './case-schema';

/** An answer of a case as the scripted upstream plays it. `requestBody` tells whether a stream was asked for. */
export function scripted(answer: CaseAnswer, format: FormatName, requestBody: string): ScriptedAnswer {
  if ('good' in answer) {
    const streamed = /"stream":true/.test(requestBody);
    return streamed ? goodStream(format, answer.good, answer.usage) : goodBody(format, answer.good, answer.usage);
  }
  if ('connection' in answer) return { connection: answer.connection };
  if (answer.steps === undefined) {
    const body = answer.body === undefined ? '' : typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return { status: answer.status, headers: answer.headers, body };
  }
  return {
    status: answer.status,
    headers: { 'content-type': streamType(format), ...answer.headers },
    steps: answer.steps.flatMap((step) => stepsOf(step, format)),
  };
}

function stepsOf(step: CaseStep, format: FormatName): Step[] {
  if ('wait_ms' in step) return [{ wait: step.wait_ms }];
  if ('write' in step) return [{ write: step.write }];
  if ('sse' in step) return [{ write: sse(...step.sse) }];
  if ('ndjson' in step) return [{ write: step.ndjson.map((line) => `${JSON.stringify(line)}\n`).join('') }];
  if ('deltas' in step) return someDeltas(format, step.deltas);
  return [step];
}
