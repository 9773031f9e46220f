// Checks the types, and bundles each entry of the package into `dist/`.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

rmSync(at('dist'), { recursive: true, force: true });
mkdirSync(at('dist'));
execFileSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', at('tsconfig.json')], {
  stdio: 'inherit',
});
// Declarations only: `dist/js/*.d.ts` are the entries' own names in `dist`.
cpSync(at('dist/js'), at('dist'), { recursive: true });
rmSync(at('dist/js'), { recursive: true });
const options = {
  outdir: at('dist'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  external: ['node:*'],
  logLevel: 'warning',
};
const entries = (names) => names.map((name) => at(`js/${name}.ts`));
await build({ ...options, entryPoints: entries(['index', 'node', 'slim', 'json', 'json-node']) });
for (const name of ['koan', 'koan-simd', 'koan-json']) {
  cpSync(at(`build/${name}.wasm`), at(`dist/${name}.wasm`));
}
