import type { Format } from '../format';
import { sseReader } from '../../transport/frames';
import { call } from './call';
import { buildRequest } from './request';
import { createDecoder, readBody } from './stream';
import { usageNumbers } from './usage';

/** POST /responses of OpenAI and of the Codex backend. */
export const openAiResponses: Format = {
  name: 'openai-responses',
  outputIsMandatory: false,
  build: buildRequest,
  call,
  frames: sseReader,
  decoder: createDecoder,
  readBody(body) {
    const { events, raw } = readBody(body);
    return { events, raw, numbers: usageNumbers(raw) };
  },
};
