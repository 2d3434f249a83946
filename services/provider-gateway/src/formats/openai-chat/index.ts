import type { Format } from '../format';
import { sseReader } from '../../transport/frames';
import { call } from './call';
import { buildRequest } from './request';
import { createDecoder, readBody } from './stream';
import { usageNumbers } from './usage';

/** POST /chat/completions of OpenAI and everything that speaks like it. */
export const openAiChat: Format = {
  name: 'openai-chat',
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
