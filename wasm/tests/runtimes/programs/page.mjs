// A page and its Worker, for bundlers: no top-level await, no TypeScript. A model of numbers and one
// of images, for which a page loads other builds, live beside each other.

import { Model } from 'koan-wasm';

const worker = new Worker(new URL('./page-worker.mjs', import.meta.url), { type: 'module' });
// At once: the Worker must not miss it.
worker.postMessage(document.baseURI);
const theirs = new Promise((resolve) => {
  worker.onmessage = ({ data }) => resolve(data);
});
Model.load(new URL('digits.koan', document.baseURI)).then(async (model) => {
  const detector = await Model.load(new URL('detector.koan', document.baseURI));
  const mine = model.classify(new Uint8Array(model.info.inputs));
  for (const each of [model, detector]) each.selfTest();
  const [value] = detector.values(new Uint8Array(detector.info.inputs));
  document.body.textContent = `page ${mine}, detector ${Number.isFinite(value)}, worker ${await theirs}`;
});
