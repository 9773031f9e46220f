// Builds the demo page into a folder that any static server serves:
// `node scripts/page.mjs FOLDER`.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const [folder] = process.argv.slice(2);
if (!folder) throw new Error('usage: node scripts/page.mjs FOLDER');

execFileSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', at('page')], {
  stdio: 'inherit',
});
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const file of ['index.html', 'style.css', 'icon.svg', 'digits.koan']) {
  cpSync(at(`page/${file}`), join(folder, file));
}
for (const file of ['koan.wasm', 'koan-simd.wasm', 'train.wasm']) cpSync(at(`build/${file}`), join(folder, file));
const options = {
  outdir: folder,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  logLevel: 'warning',
};
const entries = ['main', 'worker', 'train', 'train-worker'].map((name) => at(`page/${name}.ts`));
await build({ ...options, entryPoints: entries });
// What trains is loaded only when somebody asks for it, and then kept.
const files = readdirSync(folder).filter((file) => !file.startsWith('train')).sort();
const digest = createHash('sha256');
for (const file of readdirSync(folder).sort()) digest.update(file).update(readFileSync(join(folder, file)));
await build({
  ...options,
  entryPoints: [at('page/service.ts')],
  // The browser's second build is not needed where the first one runs, but a
  // page that is kept must start everywhere.
  define: {
    FILES: JSON.stringify(['./', ...files]),
    VERSION: JSON.stringify(digest.digest('hex').slice(0, 16)),
  },
});
console.log(`${readdirSync(folder).length} files in ${folder}`);
