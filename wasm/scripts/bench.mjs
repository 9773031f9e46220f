// Microseconds of a prediction in node, and in Chromium where there is one:
// `node bench.mjs FOLDER`, with the models that
// `cargo run -p koan-tests --bin shapes FOLDER` writes. With those of `tests/models` and the
// page's own every family is timed. Beside them random Fourier features and a head as plain
// float32 matrices in JavaScript.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '../tests/chromium.mjs';
import { serve } from '../tests/server.mjs';
import { micros, rowsOf, times } from './times.mjs';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('usage: node bench.mjs FOLDER');
const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** What is wanted of the build with SIMD, in µs for a row. */
const WANTED = { 'digits-conv-1024': 200, 'mnist-fourier-2048': 12 };

const BUILDS = ['koan', 'koan-simd'];

/** The models in a folder, by their names. */
const modelsIn = (path) =>
  readdirSync(path)
    .filter((file) => file.endsWith('.koan'))
    .map((file) => [file.replace('.koan', ''), readFileSync(join(path, file))]);
const models = Object.fromEntries([
  ...modelsIn(at('../tests/models')),
  ...modelsIn(folder),
  ['the page’s', readFileSync(at('page/digits.koan'))],
]);

/** µs of Fourier features and a head, as everyone writes them with float32. */
function matrices({ inputs, features, outputs }) {
  const fill = (length, scale) => Float32Array.from({ length }, () => scale * (Math.random() - 0.5));
  const [projection, phase, head] = [fill(inputs * features, 0.1), fill(features, 6.28), fill(features * outputs, 1)];
  const rows = rowsOf(inputs);
  const scores = new Float32Array(outputs);
  return micros((i) => {
    const row = rows.subarray(i * inputs, (i + 1) * inputs);
    scores.fill(0);
    for (let k = 0; k < features; k++) {
      let z = phase[k];
      for (let j = 0, from = k * inputs; j < inputs; j++) z += projection[from + j] * row[j];
      const feature = Math.cos(z);
      for (let output = 0; output < outputs; output++) scores[output] += head[output * features + k] * feature;
    }
  });
}

async function inNode(build) {
  const koan = await import(`../dist/slim.js?${build}`);
  await koan.init(readFileSync(at(`dist/${build}.wasm`)));
  return times(koan.Model, models);
}

/** The same on a page of Chromium; nothing where there is none. */
async function inChromium() {
  const browser = await launch().catch(() => undefined);
  if (!browser) return {};
  const script = `
    import { init, Model } from '/dist/slim.js';
    import { times } from '/scripts/times.mjs';
    window.run = async (build, models) => {
      await init(new URL('/dist/' + build + '.wasm', location.origin));
      return times(Model, Object.fromEntries(models.map(([name, blob]) => [name, Uint8Array.from(blob)])));
    };`;
  const server = await serve({
    '/dist/': at('dist'),
    '/scripts/': at('scripts'),
    '/bench.html': { text: `<!doctype html><script type="module">${script}</script>` },
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${server.origin}/bench.html`);
    return await page.evaluate(
      ([build, list]) => window.run(build, list),
      ['koan-simd', Object.entries(models).map(([name, blob]) => [name, [...blob]])],
    );
  } finally {
    await browser.close();
    await server.close();
  }
}

const [plain, simd] = [await inNode(BUILDS[0]), await inNode(BUILDS[1])];
const chromium = await inChromium();
const shown = (time) => (time === undefined ? '' : time.toFixed(1));
const lines = [
  ['µs a row', 'inputs', 'features', 'koan', 'koan-simd', 'ratio', 'of many', 'Chromium', 'float32', 'ratio', 'wanted'],
];
for (const name of Object.keys(models)) {
  const { inputs, features, one, many } = simd[name];
  const float = name.includes('fourier') ? matrices(simd[name]) : undefined;
  lines.push([
    name,
    String(inputs),
    String(features),
    shown(plain[name].one),
    shown(one),
    shown(plain[name].one / one),
    shown(many),
    shown(chromium[name]?.one),
    shown(float),
    shown(float && float / one),
    WANTED[name] ? `${WANTED[name]}` : '',
  ]);
}
const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
for (const line of lines) {
  const cells = line.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i])));
  console.log(cells.join('  ').trimEnd());
}
