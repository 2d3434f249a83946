import type { Format } from '../format';
import { sseReader } from '../../transport/frames';
import { address, call } from './call';
import { buildRequest } from './request';
import { createDecoder, errorFrame, readBody } from './stream';
import { usageNumbers } from './usage';

/** POST /responses of OpenAI and of the Codex backend. */
export const openAiResponses: Format = {
  name: 'openai-responses',
  outputIsMandatory: false,
  build: buildRequest,
  call,
  address,
  frames: sseReader,
  decoder: createDecoder,
  errorFrame,
  readBody(body) {
    const { events, raw } = readBody(body);
    return { events, raw, numbers: usageNumbers(raw) };
  },
};
