// The packed package in every runtime and bundler that its README names, with the checkers of
// packages and the oldest TypeScript: a part of `cargo xtask test --thorough`.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build as bundle } from 'esbuild';
import { complaints, launch, until } from '../chromium.mjs';
import { file } from '../paths.mjs';
import { serve } from '../server.mjs';
import { make, models, project, run, tarball, tool } from './project.mjs';

const require = createRequire(import.meta.url);
let browser;
before(async () => {
  await make();
  browser = await launch();
});
after(() => browser?.close());

/** What every runtime answers. */
function check(text) {
  const { models, rows, differences, digit, same, inputs } = JSON.parse(text);
  console.log(`  ${models} models, ${rows} comparisons, ${differences.length} differences`);
  assert.deepEqual(differences, []);
  assert.ok(models > 200 && rows > 5000);
  assert.match(digit, /^\d$/);
  assert.ok(same, 'the entry for JSON answers the same');
  assert.deepEqual(inputs, [2.5, 0, 1]);
}

test('node, ESM', async () => check(await run(process.execPath, 'replay.mjs')));
test('node, CommonJS', async () => check(await run(process.execPath, 'replay.cjs')));
for (const name of ['replay.mjs', 'replay.cjs']) {
  test(`Bun, ${name}`, async () => check(await run(tool('.bin/bun'), name)));
}
test('Deno', async () => check(await run(tool('.bin/deno'), 'run', '--allow-read', 'replay.mjs')));

test('workerd, by miniflare', async () => {
  // As wrangler bundles: wasm stays a module of its own.
  const wasm = new Map();
  const keep = {
    name: 'wasm',
    setup(build) {
      build.onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
        wasm.set(path, file(resolveDir, path));
        return { path, external: true };
      });
    },
  };
  await bundle({
    entryPoints: [file(project, 'edge.mjs')],
    outfile: file(project, 'edge/edge.mjs'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    plugins: [keep],
  });
  assert.deepEqual([...wasm.keys()].sort(), ['./koan-json.wasm', './koan-simd.wasm']);
  const { Miniflare } = require('miniflare');
  const worker = new Miniflare({
    compatibilityDate: '2024-01-01',
    modules: [
      { type: 'ESModule', path: 'edge.mjs', contents: readFileSync(file(project, 'edge/edge.mjs'), 'utf8') },
      ...[...wasm].map(([path, from]) => ({
        type: 'CompiledWasm',
        path: path.replace('./', ''),
        contents: readFileSync(from),
      })),
    ],
  });
  try {
    const response = await worker.dispatchFetch('http://localhost/', { method: 'POST', body: models });
    check(await response.text());
  } finally {
    await worker.dispose();
  }
});

/** Opens a page of the project in Chromium: its text, once page and Worker have answered. */
async function answersOf(origin) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const list = complaints(page);
  await page.goto(origin);
  try {
    await until(page, () => document.body.textContent.includes('worker'));
    assert.match(await page.textContent('body'), /^page (\d), detector true, worker \1/);
    assert.deepEqual(list, []);
  } catch (error) {
    throw new Error(`${error.message}: ${list.join('; ')}`);
  } finally {
    await context.close();
  }
}

const vite = async () => import(pathToFileURL(require.resolve('vite', { paths: [project] })));

test('Vite, its development server', async () => {
  const { createServer } = await vite();
  const server = await createServer({
    root: project,
    configFile: false,
    logLevel: 'warn',
    server: { host: '127.0.0.1', port: 0 },
  });
  await server.listen();
  try {
    await answersOf(`http://127.0.0.1:${server.httpServer.address().port}/`);
  } finally {
    await server.close();
  }
});

test('Vite, built', async () => {
  const { build } = await vite();
  await build({ root: project, configFile: false, logLevel: 'warn', build: { outDir: 'vite' } });
  const server = await serve({ '/': file(project, 'vite') });
  await answersOf(server.origin);
  await server.close();
});

test('webpack', async () => {
  const webpack = require('webpack');
  const stats = await new Promise((resolve, reject) => {
    const options = {
      mode: 'production',
      context: project,
      entry: './page.mjs',
      output: { path: file(project, 'webpack') },
    };
    webpack(options, (error, stats) => (error ? reject(error) : resolve(stats)));
  });
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  assert.deepEqual([...errors, ...warnings], []);
  assert.ok(readdirSync(file(project, 'webpack')).some((name) => name.endsWith('.wasm')));
  const server = await serve({ '/': file(project, 'webpack') });
  await answersOf(server.origin);
  await server.close();
});

/** The types of a file, by a release of TypeScript. */
function types(release, files, module, resolution) {
  const options = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
  const lib = ['es2022', 'dom', ...(release === 'typescript-5.2' ? ['esnext.disposable'] : [])];
  const compilerOptions = { ...options, target: 'es2022', module, moduleResolution: resolution, lib, types: [] };
  const config = `tsconfig-${release}-${resolution}.json`;
  writeFileSync(file(project, config), JSON.stringify({ compilerOptions, files }));
  return run(process.execPath, tool(`${release}/bin/tsc`), '-p', config);
}

test('the declarations in TypeScript 4.7, of ESM, CommonJS and before `exports`', async () => {
  await types('typescript-4.7', ['types.mts', 'types-require.cts'], 'node16', 'node16');
  writeFileSync(file(project, 'types.ts'), readFileSync(file(project, 'types.mts')));
  await types('typescript-4.7', ['types.ts'], 'es2022', 'node');
});

test('`using` in TypeScript 5.2', async () => {
  await types('typescript-5.2', ['types.mts', 'types-require.cts', 'types-using.mts'], 'node16', 'node16');
  await types('typescript-5.2', ['types.mts', 'types-using.mts'], 'es2022', 'bundler');
});

test('publint', async () => {
  const printed = await run(tool('.bin/publint'), 'run', tarball, '--strict');
  assert.match(printed, /All good!/);
});

test('are the types wrong?', async () => {
  const files = ['koan.wasm', 'koan-simd.wasm', 'koan-tables.wasm', 'koan-images.wasm', 'koan-json.wasm'];
  await run(tool('.bin/attw'), tarball, '--exclude-entrypoints', ...files);
});
