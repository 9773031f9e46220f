// Bytes that a page must load: raw, and as servers compress them. Fails above
// the budget. `--without-training`: not of the module that trains.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** What a page loads to predict, of a script and one build of the runtime. */
const LOAD = 18 * 1024;

/** In bytes: what fails when it is exceeded (docs/decisions.md). */
const BUDGET = {
  'koan-simd.wasm': { raw: 33 * 1024, gzip: 18 * 1024 },
  'koan.wasm': { raw: 32 * 1024, gzip: 17 * 1024 },
  // The demo page's, loaded only when somebody trains.
  'train.wasm': { gzip: 980 * 1024 },
  // What is loaded for a model of tables, and for one of images or series.
  'index.js + koan-tables.wasm': { gzip: LOAD },
  'index.js + koan-images.wasm': { gzip: LOAD },
  // For one that has banks of both, or by `init()`; and without SIMD.
  'index.js + koan-simd.wasm': { gzip: 22.6 * 1024 },
  'index.js + koan.wasm': { gzip: 21.45 * 1024 },
};

const FILES = ['koan-tables.wasm', 'koan-images.wasm', 'koan-simd.wasm', 'koan.wasm', 'koan-json.wasm', 'index.js'];

/** Brotli at its best takes seconds for a megabyte. */
const size = (name, folder = 'dist', quality = constants.BROTLI_MAX_QUALITY) => {
  const bytes = readFileSync(new URL(`../${folder}/${name}`, import.meta.url));
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }).length,
  };
};
const { values: given } = parseArgs({ options: { 'without-training': { type: 'boolean' } } });
const sizes = Object.fromEntries(FILES.map((name) => [name, size(name)]));
if (!given['without-training']) sizes['train.wasm'] = size('train.wasm', 'build', 9);
for (const name of Object.keys(BUDGET).filter((name) => name.includes(' + '))) {
  const parts = name.split(' + ').map((part) => sizes[part]);
  sizes[name] = Object.fromEntries(
    ['raw', 'gzip', 'brotli'].map((key) => [key, parts.reduce((sum, part) => sum + part[key], 0)]),
  );
}

const over = [];
console.log('file                            raw    gzip  brotli  budget');
for (const [name, found] of Object.entries(sizes)) {
  const budget = BUDGET[name] ?? {};
  const cells = ['raw', 'gzip', 'brotli'].map((key) => String(found[key]).padStart(8));
  const listed = (limits) => Object.entries(limits).map(([key, bytes]) => `${key} ${bytes}`).join(', ');
  const limits = BUDGET[name] ? `  ${listed(budget)}` : '';
  console.log(`${name.padEnd(27)}${cells.join('')}${limits}`);
  for (const [key, bytes] of Object.entries(budget)) {
    if (found[key] > bytes) over.push(`${name}: ${found[key]} bytes (${key}), the budget is ${bytes}`);
  }
}
if (over.length) {
  console.error(over.join('\n'));
  process.exitCode = 1;
}
