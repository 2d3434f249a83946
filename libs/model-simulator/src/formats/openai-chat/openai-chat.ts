import { sse, type Format } from '../format';
import { readOpenAiChat } from './read';
import { openAiChatBody, openAiChatEmptyFrames, openAiChatFrames } from './write';

export const openAiChatFormat: Format = {
  name: 'openai-chat',
  streamType: 'text/event-stream; charset=utf-8',
  malformed: 'data: {"bad\n\n',
  tokenFactor: 1,
  read: readOpenAiChat,
  frames: openAiChatFrames,
  body: openAiChatBody,
  errorFrame: (error, { vendor }) => sse(error, vendor.errorEvent),
  emptyFrames: openAiChatEmptyFrames,
};
