// Microseconds of a prediction in node, beside the same model as plain float32
// matrices in JavaScript: `node bench.mjs FOLDER`, with the models that
// `cargo run -p koan-tests --bin shapes FOLDER` writes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('usage: node bench.mjs FOLDER');

/** What is wanted of the SIMD build: µs for one row, and for a row of many. */
const WANTED = { digits: [10, 5], mnist: [50, 50] };
const ROWS = 1000;

const builds = {};
for (const name of ['koan', 'koan-simd']) {
  builds[name] = await import(`../dist/slim.js?${name}`);
  await builds[name].init(readFileSync(new URL(`../dist/${name}.wasm`, import.meta.url)));
}

/** Random Fourier features and a head, as everyone writes it with float32. */
function matrices({ inputs, features, outputs }) {
  const fill = (length, scale) => Float32Array.from({ length }, () => scale * (Math.random() - 0.5));
  const [projection, phase, head] = [fill(inputs * features, 0.1), fill(features, 6.28), fill(features * outputs, 1)];
  const bytes = 4 * (projection.length + phase.length + head.length);
  const scores = new Float32Array(outputs);
  const classify = (row) => {
    scores.fill(0);
    for (let k = 0; k < features; k++) {
      let z = phase[k];
      for (let i = 0, at = k * inputs; i < inputs; i++) z += projection[at + i] * row[i];
      const feature = Math.cos(z);
      for (let output = 0; output < outputs; output++) scores[output] += head[output * features + k] * feature;
    }
    return scores.indexOf(Math.max(...scores));
  };
  return { classify, bytes };
}

/**
 * The least time of a call, in µs, over a second of short samples: other work on
 * the machine only adds, and rarely to a sample of a millisecond.
 */
function micros(call) {
  const sample = (calls) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) call(i % ROWS);
    return Number(process.hrtime.bigint() - start) / 1000 / calls;
  };
  let least = sample(20);
  const end = performance.now() + 1000;
  while (performance.now() < end) {
    least = Math.min(least, sample(Math.max(1, Math.min(ROWS, Math.round(1000 / least)))));
  }
  return least;
}

const lines = [['model', 'build', 'bytes', 'one row', 'a row of 1,000', 'float32', 'ratio', 'wanted']];
for (const [name, wanted] of Object.entries(WANTED)) {
  const blob = readFileSync(join(folder, `${name}.koan`));
  for (const [build, { Model }] of Object.entries(builds)) {
    const model = Model.from(blob);
    model.selfTest();
    const { inputs } = model.info;
    const rows = Float32Array.from({ length: ROWS * inputs }, (_, i) => (i * 7919) % 17);
    const one = Array.from({ length: ROWS }, (_, i) => rows.subarray(i * inputs, (i + 1) * inputs));
    const single = micros((i) => model.classify(one[i]));
    const batch = micros(() => model.classifyMany(rows)) / ROWS;
    const plain = matrices(model.info);
    const float = micros((i) => plain.classify(one[i]));
    lines.push([
      name,
      build,
      `${blob.length} (${plain.bytes} as float32)`,
      `${single.toFixed(1)} µs`,
      `${batch.toFixed(1)} µs`,
      `${float.toFixed(1)} µs`,
      `${(float / batch).toFixed(1)}`,
      build === 'koan-simd' ? `${wanted.map((w) => `${w} µs`).join(', ')}` : '',
    ]);
    model.free();
  }
}
const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
for (const line of lines) console.log(line.map((cell, i) => cell.padEnd(widths[i])).join('  ').trimEnd());
