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
await build({
  entryPoints: ['index', 'node', 'slim'].map((name) => at(`js/${name}.ts`)),
  outdir: at('dist'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  external: ['node:*'],
  logLevel: 'warning',
});
for (const wasm of ['koan.wasm', 'koan-simd.wasm']) cpSync(at(`build/${wasm}`), at(`dist/${wasm}`));
