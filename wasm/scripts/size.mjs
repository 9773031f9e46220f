// Bytes that a page must load: raw, and as servers compress them. Fails above
// the budget.

import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** In bytes: what fails when it is exceeded (docs/decisions.md). */
const BUDGET = {
  'koan-simd.wasm': { raw: 32 * 1024, gzip: 17.55 * 1024 },
  'koan.wasm': { raw: 31 * 1024, gzip: 16.75 * 1024 },
  // What is loaded: the script, and one of the two.
  'index.js + koan-simd.wasm': { gzip: 22.6 * 1024 },
  // The demo page's, loaded only when somebody trains.
  'train.wasm': { gzip: 950 * 1024 },
};

/** Brotli at its best takes seconds for a megabyte. */
const size = (name, folder = 'dist', quality = constants.BROTLI_MAX_QUALITY) => {
  const bytes = readFileSync(new URL(`../${folder}/${name}`, import.meta.url));
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }).length,
  };
};
const sizes = Object.fromEntries(
  ['koan-simd.wasm', 'koan.wasm', 'koan-json.wasm', 'index.js'].map((name) => [name, size(name)]),
);
const sum = (a, b) => Object.fromEntries(Object.keys(a).map((key) => [key, a[key] + b[key]]));
sizes['train.wasm'] = size('train.wasm', 'build', 9);
sizes['index.js + koan-simd.wasm'] = sum(sizes['index.js'], sizes['koan-simd.wasm']);

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
