import { Model } from 'koan-wasm';

addEventListener('message', async ({ data }) => {
  const model = await Model.load(new URL('digits.koan', data));
  postMessage(model.classify(new Float32Array(model.info.inputs)));
});
