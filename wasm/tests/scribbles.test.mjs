// The page's two models, on the demo's test images and on scribbles: how often the recogniser is
// wrong, as the page says, and how many of each the detector takes for no digit. The Worker asks
// the models in the same way.

import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { file, pageFolder, root } from './paths.mjs';
import { drawnDigits, scribbles } from './scribbles.mjs';
import { STROKES } from './strokes.mjs';

const host = JSON.parse(readFileSync(file(root, 'target/wasm-host.json'), 'utf8'));
const built = file(root, 'target/digit.mjs');
await build({ entryPoints: [file(root, 'wasm/page/digit.ts')], bundle: true, format: 'esm', outfile: built });
const { reduce } = await import(pathToFileURL(built));
rmSync(built);

/** Scribbles that no choice of the detector was made on: that was done with seed 7. */
const SEEDS = [1, 2, 3];
const COUNT = 600;

let recogniser;
let detector;
before(async () => {
  const { init, Model } = await import(pathToFileURL(file(root, 'wasm/dist/slim.js')));
  await init(readFileSync(file(root, 'wasm/dist/koan.wasm')));
  const load = (name) => Model.from(readFileSync(file(root, `wasm/page/${name}`)));
  [recogniser, detector] = [load('digits.koan'), load('detector.koan')];
});

const rowOf = (strokes) => reduce(strokes.map((stroke) => stroke.map(([x, y]) => ({ x, y }))));
const isDigit = (row) => detector.values(row)[0] > 0;
const share = (list, condition) => (100 * list.filter(condition).length) / list.length;
const rows = host.digits.map(({ row, digit }) => ({ row: Float32Array.from(row), digit }));

test('the recogniser is wrong as often as the page says', () => {
  const wrong = share(rows, ({ row, digit }) => recogniser.classify(row) !== digit);
  const page = readFileSync(file(pageFolder, 'index.html'), 'utf8').replace(/\s+/g, ' ');
  assert.ok(page.includes(`It takes <b>${wrong.toFixed(2)} %</b> of ${rows.length} test images`), `${wrong} %`);
});

test('at most 2 % of the test images are taken for no digit', () => {
  const rejected = share(rows, ({ row }) => !isDigit(row));
  console.log(`  ${rejected.toFixed(2)} % of ${rows.length} test images rejected`);
  assert.ok(rejected <= 2);
});

test('at least 95 % of scribbles are taken for no digit', () => {
  const all = SEEDS.flatMap((seed) => scribbles(COUNT, seed)).map(({ kind, strokes }) => ({ kind, digit: isDigit(rowOf(strokes)) }));
  const rejected = share(all, ({ digit }) => !digit);
  for (const kind of new Set(all.map((scribble) => scribble.kind))) {
    const some = all.filter((scribble) => scribble.kind === kind);
    console.log(`  ${kind}: ${share(some, ({ digit }) => !digit).toFixed(1)} %`);
  }
  console.log(`  ${rejected.toFixed(2)} % of ${all.length} scribbles rejected`);
  assert.ok(rejected >= 95);
});

test('digits drawn by other hands are mostly digits', () => {
  for (const strokes of Object.values(STROKES)) assert.ok(isDigit(rowOf(strokes)));
  const drawn = drawnDigits(1000, 1);
  const rejected = share(drawn, ({ strokes }) => !isDigit(rowOf(strokes)));
  const wrong = share(drawn, ({ strokes, digit }) => recogniser.classify(rowOf(strokes)) !== digit);
  console.log(`  ${rejected.toFixed(2)} % of ${drawn.length} drawn digits rejected, ${wrong.toFixed(2)} % taken for another`);
  assert.ok(rejected <= 10);
});
