// What is in the packed package, and what of it a bundle takes along.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import { consumer, file, installed } from './paths.mjs';

const folder = file(installed, '..');
const manifest = JSON.parse(readFileSync(file(folder, 'package.json'), 'utf8'));

/** Every path that a part of `package.json` names. */
const paths = (part) => (typeof part === 'string' ? [part] : Object.values(part).flatMap(paths));

test('every file that the manifest names is there, and the licences', () => {
  const named = [...paths(manifest.exports), manifest.main, manifest.types, ...paths(manifest.typesVersions)];
  for (const path of named) assert.ok(existsSync(file(folder, path)), path);
  for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) {
    assert.match(readFileSync(file(folder, licence), 'utf8'), /Licensed under|Permission is hereby granted|Apache License/);
  }
  assert.ok(manifest.keywords.length > 0 && manifest.license === 'MIT OR Apache-2.0');
});

test('the wasm is what its origin says', () => {
  const { commit, rustc, sha256 } = JSON.parse(readFileSync(file(installed, 'provenance.json'), 'utf8'));
  assert.match(rustc, /^rustc 1\./);
  assert.ok(commit.length > 0);
  const wasm = readdirSync(installed).filter((name) => name.endsWith('.wasm'));
  assert.deepEqual(Object.keys(sha256).sort(), wasm.sort());
  for (const name of wasm) {
    const digest = createHash('sha256').update(readFileSync(file(installed, name))).digest('hex');
    assert.equal(digest, sha256[name], name);
  }
});

test('no script awaits at its top: a Worker hears its first message', async () => {
  const scripts = readdirSync(installed).filter((name) => name.endsWith('.js'));
  assert.ok(scripts.length >= 8);
  for (const name of scripts) {
    // This format cannot hold such an `await`: esbuild refuses it.
    await transform(readFileSync(file(installed, name), 'utf8'), { format: 'cjs', logLevel: 'silent' });
  }
  const awaits = transform('await 1', { format: 'cjs', logLevel: 'silent' });
  await assert.rejects(awaits, /Top-level await/);
});

test('`require` and `import` find the same names', async () => {
  const entries = ['koan-wasm', 'koan-wasm/slim', 'koan-wasm/json', 'koan-wasm/columns'];
  const run = (type, text) =>
    execFileSync(process.execPath, [`--input-type=${type}`, '-e', text], { cwd: consumer, encoding: 'utf8' });
  const list = JSON.stringify(entries);
  const shown = 'console.log(JSON.stringify(all.map((entry) => Object.keys(entry).sort())))';
  const required = run('commonjs', `const all = ${list}.map(require); ${shown}`);
  const imported = run('module', `const all = await Promise.all(${list}.map((name) => import(name))); ${shown}`);
  assert.equal(required, imported);
  assert.ok(JSON.parse(required).every((names) => names.length > 0));
});

/** Bytes, gzipped, of a bundle of what a text imports. */
async function bundled(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: consumer },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
  const [{ contents: bytes, text }] = outputFiles;
  return { bytes: gzipSync(bytes, { level: 9 }).length, text };
}

test('importing one function does not bring all', async () => {
  const figures = {};
  // In bytes gzipped, with a little room.
  const limits = [
    ['koan-wasm', 'hasSimd', 170],
    ['koan-wasm', 'embed', 220],
    ['koan-wasm', 'init', 1120],
    ['koan-wasm', 'Model', 4770],
    ['koan-wasm/slim', 'Model', 4770],
    ['koan-wasm/json', 'Model', 5050],
    ['koan-wasm/columns', 'Columns', 2900],
    ['koan-wasm/columns', 'readTable', 4600],
  ];
  for (const [entry, name, limit] of limits) {
    const { bytes, text } = await bundled(`export { ${name} } from '${entry}';`);
    figures[`${name} of ${entry}`] = bytes;
    assert.ok(bytes <= limit, `${name}: ${bytes} bytes, the limit is ${limit}`);
    // Bundlers copy the wasm that a script refers to.
    const refers = /"\.\/koan(-\w+)?\.wasm"/.test(text);
    assert.equal(refers, entry !== 'koan-wasm/slim' && ['init', 'Model'].includes(name), `${name}: ${refers}`);
  }
  console.log(`  bytes gzipped: ${Object.entries(figures).map(([name, bytes]) => `${name} ${bytes}`).join(', ')}`);
});
