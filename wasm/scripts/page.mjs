// Builds the demo page into a folder that any static server serves:
// `node scripts/page.mjs FOLDER [ADDRESS] [--without-training]`. Links to the page show its picture
// where ADDRESS, with a slash at its end, says where it will be. Without training, for the tests
// of all else, the page has no module to train with.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { facts, filled, loads } from './facts.mjs';

/** Bytes, gzipped, of what the page loads at first: what fails when it is exceeded. */
const BUDGET = 40 * 1024;

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const { positionals, values: given } = parseArgs({ allowPositionals: true, options: { 'without-training': { type: 'boolean' } } });
const [folder, address = ''] = positionals;
if (!folder) throw new Error('usage: node scripts/page.mjs FOLDER [ADDRESS] [--without-training]');
const trains = !given['without-training'];

const project = trains ? 'page' : 'page/tsconfig.without-training.json';
execFileSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', at(project)], { stdio: 'inherit' });
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const file of ['style.css', 'icon.svg', 'preview.png', 'digits.koan', 'detector.koan']) {
  cpSync(at(`page/${file}`), join(folder, file));
}
const trainer = (file) => (trains ? [file] : []);
for (const file of ['koan.wasm', 'koan-simd.wasm', 'koan-tables.wasm', 'koan-images.wasm', ...trainer('train.wasm')]) {
  cpSync(at(`build/${file}`), join(folder, file));
}
const options = {
  outdir: folder,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  logLevel: 'warning',
};
// `qr.ts`, which is loaded when somebody asks for a code, becomes a file of its own.
await build({ ...options, splitting: true, entryPoints: [at('page/main.ts')] });
await build({ ...options, entryPoints: ['worker', 'table-worker', 'train', ...trainer('train-worker')].map((name) => at(`page/${name}.ts`)) });

// The page's own two models need the runtime for all; others are loaded for tables, or without SIMD.
const FIRST = ['style.css', 'icon.svg', 'main.js', 'worker.js', 'koan-simd.wasm', 'digits.koan', 'detector.koan'];
const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;
const html = readFileSync(at('page/index.html'), 'utf8');
const training = readdirSync(folder)
  .filter((file) => file.startsWith('train'))
  .reduce((sum, file) => sum + gzipped(readFileSync(join(folder, file))), 0);
// The place of the sum itself is as long as the sum will be.
const values = { ...facts(address), ...loads(40_000, training) };
const load =
  gzipped(filled(html, values)) + FIRST.reduce((sum, file) => sum + gzipped(readFileSync(join(folder, file))), 0);
const page = filled(html, { ...values, ...loads(load, training) });
writeFileSync(join(folder, 'index.html'), page);

// What trains is loaded only when somebody asks for it, and then kept.
const files = readdirSync(folder).filter((file) => !file.startsWith('train')).sort();
const digest = createHash('sha256');
for (const file of readdirSync(folder).sort()) digest.update(file).update(readFileSync(join(folder, file)));
await build({
  ...options,
  entryPoints: [at('page/service.ts')],
  // Other builds are not needed where the first one runs, but a page that is
  // kept must start everywhere, with every model. The picture is for links to it alone.
  define: {
    FILES: JSON.stringify(['./', ...files.filter((file) => file !== 'preview.png')]),
    VERSION: JSON.stringify(digest.digest('hex').slice(0, 16)),
  },
});
console.log(`${files.length + 1} files in ${folder}; first load ${load} bytes gzipped, the budget is ${BUDGET}`);
if (load > BUDGET) {
  console.error(`the page's first load is ${load} bytes gzipped, the budget is ${BUDGET}`);
  process.exitCode = 1;
}
