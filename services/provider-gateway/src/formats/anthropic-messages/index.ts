import type { Format } from '../format';
import { sseReader } from '../../transport/frames';
import { address, call } from './call';
import { buildRequest } from './request';
import { createDecoder, errorFrame, readBody } from './stream';
import { usageNumbers } from './usage';

/** POST /v1/messages of Anthropic and everything that speaks like it. */
export const anthropicMessages: Format = {
  name: 'anthropic-messages',
  outputIsMandatory: true,
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
