// A node script, its types checked: every call of the package.

import { readFileSync } from 'node:fs';
import { embed, hasSimd, init, Model, type Info, type Row } from 'koan-wasm';
import { init as slimInit, Model as SlimModel } from 'koan-wasm/slim';

const file = new URL('./public/digits.koan', import.meta.url);
const model = await Model.load(file);
const row: Row = new Float32Array(64).fill(3);
const info: Info = model.info;
const label: string = model.predictLabel(row);
if (label !== info.classNames[model.classify(row)]) throw new Error('another name');
const results: [number, Int32Array, Float32Array, Int16Array, Uint8Array] = [
  model.classify(row),
  model.scores(row),
  model.probabilities(row),
  model.features(row),
  model.classifyMany(new Int16Array(128)),
];
model.selfTest();
await init();
await slimInit(readFileSync(new URL(import.meta.resolve('koan-wasm/koan.wasm'))));
const slim = SlimModel.from(readFileSync(file));
if (slim.classify(row) !== results[0]) throw new Error('the two builds differ');
const slimRow: number = slim.classify([...row]);
slim.free();
if (slimRow !== results[0]) throw new Error('a list of numbers is another row');
// @ts-expect-error: rows are no text
if ((() => { try { return model.classify('1, 2, 3'); } catch { return 'refused'; } })() !== 'refused') throw new Error('not refused');
const whole = embed(readFileSync(new URL(import.meta.resolve('koan-wasm/koan.wasm'))), readFileSync(file));
const carried = await Model.load(await WebAssembly.compile(whole));
if (carried.classify(row) !== results[0]) throw new Error('the carried model differs');
console.log(JSON.stringify({ simd: hasSimd(), classes: info.classNames.length, class: results[0] }));
