// A page and its Worker, for bundlers: no top-level await, no TypeScript.

import { Model } from 'koan-wasm';

const worker = new Worker(new URL('./page-worker.mjs', import.meta.url), { type: 'module' });
// At once: the Worker must not miss it.
worker.postMessage(document.baseURI);
const theirs = new Promise((resolve) => {
  worker.onmessage = ({ data }) => resolve(data);
});
Model.load(new URL('digits.koan', document.baseURI)).then(async (model) => {
  const mine = model.classify(new Uint8Array(model.info.inputs));
  document.body.textContent = `page ${mine}, worker ${await theirs}`;
});
