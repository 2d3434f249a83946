import { sse, type Format } from '../format';
import { readAnthropic } from './read';
import { anthropicBody, anthropicEmptyFrames, anthropicFrames } from './write';

export const anthropicFormat: Format = {
  name: 'anthropic',
  streamType: 'text/event-stream; charset=utf-8',
  malformed: 'data: {"bad\n\n',
  tokenFactor: 1.3,
  read: readAnthropic,
  frames: anthropicFrames,
  body: anthropicBody,
  errorFrame: (error) => sse(error, 'error'),
  emptyFrames: anthropicEmptyFrames,
};
