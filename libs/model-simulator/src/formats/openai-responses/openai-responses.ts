import type { Format } from '../format';
import { readOpenAiResponses } from './read';
import { responsesBody, responsesEmptyFrames, responsesErrorFrame, responsesFailedFrames, responsesFrames } from './write';

export const openAiResponsesFormat: Format = {
  name: 'openai-responses',
  streamType: 'text/event-stream; charset=utf-8',
  malformed: 'data: {"bad\n\n',
  tokenFactor: 1,
  read: readOpenAiResponses,
  frames: responsesFrames,
  body: responsesBody,
  errorFrame: responsesErrorFrame,
  emptyFrames: responsesEmptyFrames,
  failedFrames: responsesFailedFrames,
};
