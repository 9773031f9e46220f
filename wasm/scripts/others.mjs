// What a page loads to run models with the runtime that most use, written into
// `page/others.json`: `node scripts/others.mjs`. It takes the package from npm.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const NAME = 'onnxruntime-web';
const VERSION = '1.30.0';
/** What its entry `onnxruntime-web/wasm`, the smallest, loads: script, glue and WebAssembly. */
const FILES = ['ort.wasm.min.mjs', 'ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'];

const folder = mkdtempSync(join(tmpdir(), 'koan-others-'));
try {
  const packed = execFileSync('npm', ['pack', `${NAME}@${VERSION}`, '--silent'], { cwd: folder, encoding: 'utf8' });
  execFileSync('tar', ['xzf', packed.trim()], { cwd: folder });
  const sizes = FILES.map((file) => gzipSync(readFileSync(join(folder, 'package/dist', file)), { level: 9 }).length);
  const found = {
    name: NAME,
    version: VERSION,
    files: FILES,
    gzip: sizes.reduce((sum, size) => sum + size),
    date: new Date().toISOString().slice(0, 10),
  };
  writeFileSync(fileURLToPath(new URL('../page/others.json', import.meta.url)), `${JSON.stringify(found, undefined, 2)}\n`);
  console.log(found);
} finally {
  rmSync(folder, { recursive: true });
}
