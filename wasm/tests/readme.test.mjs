// The examples of the READMEs, run as they stand there, with models of the names that they load.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { consumer, file, root } from './paths.mjs';

const folder = file(consumer, 'readme');
const shown = (path, language = 'js') => {
  const text = readFileSync(file(root, path), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code);
};
const [first, columns, windows, embedded, commonJs, worker, ...others] = shown('wasm/README.md');
const [install, census] = shown('wasm/README.md', 'sh');
/** The README of the whole has one. */
const [short, ...more] = shown('README.md').filter((code) => code.includes('koan-wasm'));

/** Files are served by no server here: the examples that fetch take them from the disk. */
const FETCH = `
  import { readFile } from 'node:fs/promises';
  globalThis.fetch = async (address) => new Response(await readFile(address));
`;

/** Runs an example, with what shows its results behind it. */
function run(name, code, shows) {
  writeFileSync(file(folder, 'fetch.mjs'), FETCH);
  writeFileSync(file(folder, name), `${code}\n${shows}`);
  const args = name.endsWith('.mjs') ? ['--import', pathToFileURL(file(folder, 'fetch.mjs')), name] : [name];
  return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).trim().split('\n');
}

/** Runs lines of a README in a folder, with the command where the shell finds it. */
function sh(lines, cwd, variables = {}) {
  const PATH = `${dirname(process.env.KOAN)}:${process.env.PATH}`;
  return execFileSync('sh', ['-ec', lines], { cwd, encoding: 'utf8', env: { ...process.env, ...variables, PATH }, stdio: 'pipe' });
}

before(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  cpSync(file(root, 'wasm/page/digits.koan'), file(folder, 'digits.koan'));
  cpSync(file(root, 'core/tests/tiny.koan'), file(folder, 'model.koan'));
  // The rows of a test of the reader again and again, as the census's file, which has no header.
  const { csv } = JSON.parse(readFileSync(file(root, 'host/data/src/tests/fixtures/coded_notes.json'), 'utf8'));
  const [, ...rows] = csv.trim().split('\n');
  writeFileSync(file(folder, 'adult.data'), `${Array(30).fill(rows).flat().join('\n')}\n`);
  assert.match(census, /koan train .*--flash 2k/);
  // A search takes a while.
  sh(census.replace('--flash 2k', '-k 32'), folder);
});

test('every example is tested', () => {
  assert.deepEqual([others, more], [[], []]);
});

test('the package is installed from the repository', () => {
  // What the first line builds is there; the second finds it beside the project.
  const [build, copy] = install.trim().split('\n');
  assert.match(build, /^\(cd \.\.\/koan && cargo xtask npm\)/);
  const project = file(folder, 'installed/app');
  mkdirSync(project, { recursive: true });
  writeFileSync(file(project, 'package.json'), '{"private":true,"type":"module"}');
  for (const part of ['package.json', 'README.md', 'dist']) {
    cpSync(file(root, 'wasm', part), file(folder, 'installed/koan/wasm', part), { recursive: true });
  }
  sh(copy, project, { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' });
  assert.ok(lstatSync(file(project, 'node_modules/koan-wasm')).isDirectory());
  writeFileSync(file(project, 'run.mjs'), `import { Model } from 'koan-wasm';
    const model = await Model.load(${JSON.stringify(file(root, 'wasm/page/digits.koan'))});
    console.log(model.info.inputs);`);
  assert.equal(execFileSync(process.execPath, ['run.mjs'], { cwd: project, encoding: 'utf8' }).trim(), '64');
});

test('the first example', () => {
  const lines = run('first.mjs', first, 'console.log(digit, probabilities.length, many.length);');
  assert.match(lines[0], /^64 \[/);
  assert.match(lines.at(-1), /^\d 10 1000$/);
});

test('raw columns', () => {
  const lines = run('columns.mjs', columns, 'console.log(labels.slice(0, 7).join());');
  const expected = execFileSync(process.env.KOAN, ['predict', 'adult.koan', 'adult.csv'], { cwd: folder, encoding: 'utf8' });
  const labels = expected.trim().split('\n').slice(-210);
  assert.equal(lines[0], `${labels[0]} 210 210`);
  assert.equal(lines[1], labels.slice(0, 7).join());
});

test('windows of a recording', () => {
  const koan = (...args) => execFileSync(process.env.KOAN, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  const lines = Array.from({ length: 1600 }, (_, i) => {
    const fast = Math.floor(i / 100) % 2 === 1;
    return `${[0, 1, 2].map((shift) => Math.sin(i * (fast ? 0.9 : 0.3) + shift).toFixed(3))},${fast ? 'fast' : 'slow'}`;
  });
  writeFileSync(file(folder, 'waves.csv'), `x,y,z,speed\n${lines.join('\n')}\n`);
  koan('train', 'waves.csv', '-o', 'waves.koan', '-k', '64', '--window', '20');
  const expected = koan('predict', 'waves.koan', 'waves.csv').trim().split('\n').slice(1);
  assert.deepEqual(run('windows.mjs', windows, ''), expected.map((line) => line.split(',')[1]));
  assert.equal(expected.length, 80);

  // Of several recordings in a file no window is of two.
  const recordings = lines.map((line, i) => `${line},walk ${Math.floor(i / 90)}`);
  writeFileSync(file(folder, 'waves.csv'), `x,y,z,speed,walk\n${recordings.join('\n')}\n`);
  const overlapping = ['--window', '20', '--stride', '8', '--group', 'walk', '--target', 'speed'];
  koan('train', 'waves.csv', '-o', 'waves.koan', '-k', '64', ...overlapping);
  const some = koan('predict', 'waves.koan', 'waves.csv').trim().split('\n').slice(1);
  assert.deepEqual(run('windows.mjs', windows, ''), some.map((line) => line.split(',')[1]));
  assert.equal(some.length, 17 * 9 + 7);
});

test('a model in the wasm', () => {
  assert.deepEqual(run('embedded.mjs', embedded, 'console.log(model.info.inputs);'), ['64']);
});

test('CommonJS', () => {
  assert.match(run('common.cjs', commonJs, '')[0], /^\d$/);
});

test('a Worker hears what it is told before its model is there', async () => {
  // Node's Workers have these under other names.
  const names = `
    import { parentPort } from 'node:worker_threads';
    const addEventListener = (name, hear) => parentPort.on(name, (data) => hear({ data }));
    const postMessage = (data) => parentPort.postMessage(data);
  `;
  writeFileSync(file(folder, 'worker.mjs'), names + worker);
  const thread = new Worker(file(folder, 'worker.mjs'));
  thread.postMessage(new Uint8Array(64));
  const digit = await new Promise((resolve, reject) => thread.on('message', resolve).on('error', reject));
  await thread.terminate();
  assert.ok(digit >= 0 && digit <= 9);
});

test('the example of the whole', () => {
  assert.match(run('short.mjs', short, '')[0], /^[01]$/);
});
