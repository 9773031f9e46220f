// A Vite project: the package on the page's thread and in a Worker.

import { Model } from 'koan-wasm';

const model = await Model.load(new URL('digits.koan', document.baseURI));
const mine: number = model.classify(new Uint8Array(model.info.inputs));
const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
worker.onmessage = ({ data }: MessageEvent<number>) => {
  document.body.textContent = `page ${mine}, worker ${data}`;
};
worker.postMessage(document.baseURI);
