import { z } from 'zod';
import type { JsonClient } from '../poll/json-client';
import { optionalTokens } from './server-reader';
import type { Poll, ServerReader } from './server-reader';
import { readModels, servedFigures } from './vllm';

const info = z.object({
  version: z.string().max(100).nullish(),
  context_length: optionalTokens,
  max_total_num_tokens: optionalTokens,
  max_req_input_len: optionalTokens,
});

/** As vLLM, and the pool for keys and values may be smaller than the window: then it is the window. */
export class SglangReader implements ServerReader {
  async poll(client: JsonClient): Promise<Poll> {
    const remarks: string[] = [];
    const models = servedFigures(await readModels(client, remarks));
    const answer = (await client.getOptional('/server_info')) ?? (await client.getOptional('/get_server_info'));
    const parsed = info.safeParse(answer ?? {});
    if (!parsed.success) remarks.push('/server_info: not as expected');
    const { version, context_length, max_total_num_tokens, max_req_input_len } = parsed.data ?? {};
    const limits = [context_length, max_total_num_tokens].filter((limit) => limit != null);
    return {
      version: version ?? '',
      remarks,
      models: models.map((model) => {
        const bounds = [model.window, ...limits].filter((limit) => limit !== undefined);
        return {
          ...model,
          ...(bounds.length > 0 ? { window: Math.min(...bounds) } : {}),
          ...(max_req_input_len ? { inputMax: max_req_input_len } : {}),
        };
      }),
    };
  }
}
