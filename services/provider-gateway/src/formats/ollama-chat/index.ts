import type { Format } from '../format';
import { ndjsonReader } from '../../transport/frames';
import { address, call } from './call';
import { buildRequest } from './request';
import { createDecoder, errorFrame, readBody } from './stream';
import { usageNumbers } from './usage';

/** POST /api/chat of Ollama. */
export const ollamaChat: Format = {
  name: 'ollama-chat',
  outputIsMandatory: false,
  build: buildRequest,
  call,
  address,
  frames: ndjsonReader,
  decoder: createDecoder,
  errorFrame,
  readBody(body) {
    const { events, raw } = readBody(body);
    return { events, raw, numbers: usageNumbers(raw) };
  },
};
