'use strict';
// The worker thread behind confirmTokens: {id, texts} in, {id, tokens} or {id, error} out.
const { parentPort } = require('node:worker_threads');
const { TokenCounter } = require('./bpe.cjs');

let counter;

parentPort.on('message', ({ id, texts }) => {
  try {
    counter ??= new TokenCounter();
    let tokens = 0;
    for (const text of texts) tokens += counter.count(text);
    parentPort.postMessage({ id, tokens });
  } catch (error) {
    parentPort.postMessage({ id, error: String(error?.stack ?? error) });
  }
});
