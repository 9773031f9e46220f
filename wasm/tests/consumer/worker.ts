import { Model } from 'koan-wasm';

onmessage = async ({ data }: MessageEvent<string>) => {
  using model = await Model.load(new URL('digits.koan', data));
  postMessage(model.classify(new Float32Array(model.info.inputs)));
};
