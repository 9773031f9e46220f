// A project that has installed the packed package, with the tools of this folder beside it.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { consumer, file, golden, root } from '../paths.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
/** A program that the lock file of this folder names. */
export const tool = (name) => file(here, 'node_modules', name);

/** The packed package; `consumer.mjs` makes it. */
export const tarball = file(consumer, readdirSync(consumer).find((name) => name.endsWith('.tgz')));

export const project = file(root, 'target/wasm-runtimes');

/** What every runtime is to answer: the golden models' data, as JSON. */
export const models = JSON.stringify(golden().map(({ name, blob, rows }) => ({ name, blob: [...blob], rows })));

/** Runs a program in the project; what it prints is in the error, if it fails. */
export async function run(program, ...args) {
  try {
    const options = { cwd: project, encoding: 'utf8', maxBuffer: 1 << 26 };
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    throw new Error(`${program} ${args.join(' ')}: ${error.message}\n${error.stdout ?? ''}`);
  }
}

/** Makes the project anew. */
export async function make() {
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  writeFileSync(file(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', 'install', '--offline', '--no-audit', '--no-fund', tarball);
  cpSync(file(here, 'programs'), project, { recursive: true });
  cpSync(file(root, 'wasm/tests/replay.mjs'), file(project, 'shared.mjs'));
  for (const folder of ['.', 'public', 'webpack']) {
    mkdirSync(file(project, folder), { recursive: true });
    cpSync(file(root, 'wasm/page/digits.koan'), file(project, folder, 'digits.koan'));
    cpSync(file(root, 'wasm/page/detector.koan'), file(project, folder, 'detector.koan'));
  }
  writeFileSync(file(project, 'golden.json'), models);
  const page = (script) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Test</title>
<link rel="icon" href="data:,"><body><script type="module" src="${script}"></script></body></html>`;
  writeFileSync(file(project, 'index.html'), page('./page.mjs'));
  writeFileSync(file(project, 'webpack/index.html'), page('./main.js'));
  symlinkSync(file(root, 'wasm/node_modules/vite'), file(project, 'node_modules/vite'));
}
