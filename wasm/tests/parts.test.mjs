// The page's entry in node, where files are what it fetches: which build it loads for a model, that
// all of them give the same bits, and what is said of models that a build leaves out.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { file, golden, host as readHost, installed } from './paths.mjs';
import { PARTS, partOf } from './parts.mjs';
import { replay } from './replay.mjs';

const models = golden();
const host = readHost();
const bytes = (name) => readFileSync(file(installed, name));
const named = (name) => models.find((model) => model.name === `${name}.koan`).blob;
const by = (part) => models.filter(({ blob }) => partOf(blob) === part);
const [TABLE, IMAGE] = [by(PARTS[0])[0].blob, by(PARTS[1])[0].blob];
const MIXTURE = by('koan-simd.wasm')[0].blob;

/** What was fetched since the last look. */
let fetched = [];
const look = () => fetched.splice(0);
/** Set where the network is down. */
let isDown = false;
globalThis.fetch = async (address) => {
  if (isDown) throw new TypeError('fetch failed');
  fetched.push(basename(String(address)));
  return new Response(readFileSync(fileURLToPath(address)), { headers: { 'content-type': 'application/wasm' } });
};

let copies = 0;
/** A copy of an entry of its own. */
const fresh = (entry = 'index.js') => import(`${pathToFileURL(file(installed, entry))}?part-${copies++}`);

for (const part of [...PARTS, 'koan-simd.wasm']) {
  test(`golden models that a page loads ${part} for`, async () => {
    const { Model } = await fresh();
    const mine = by(part);
    // All at once: the file is fetched once.
    const loaded = await Promise.all(mine.map(({ blob }) => Model.load(blob)));
    assert.deepEqual(look(), [part]);
    loaded.forEach((model) => model.free());
    const { models: count, rows, differences } = replay(Model, mine);
    console.log(`  ${count} models, ${rows} comparisons, ${differences.length} differences`);
    assert.deepEqual(differences, []);
    assert.ok(count > 0 && rows > 0);
    assert.deepEqual(look(), []);
  });
}

test('models without outputs in the build of their family', async () => {
  const all = host.features.map((model) => ({ ...model, blob: Buffer.from(model.blob, 'hex') }));
  for (const part of PARTS) {
    const { Model } = await fresh();
    const mine = all.filter(({ blob }) => partOf(blob) === part);
    for (const { blob, row, features } of mine) {
      const model = await Model.load(blob);
      model.selfTest();
      assert.deepEqual([...model.features(Int16Array.from(row))], features);
      model.free();
    }
    assert.deepEqual(look(), [part]);
    console.log(`  ${part}: ${mine.length} models`);
  }
});

test('models of several builds live beside each other', async () => {
  const { Model, init } = await fresh();
  const loaded = [];
  for (const [blob, part] of [[TABLE, PARTS[0]], [IMAGE, PARTS[1]], [MIXTURE, 'koan-simd.wasm']]) {
    const model = await Model.load(blob);
    assert.deepEqual(look(), [part]);
    loaded.push({ model, blob, before: scoresOf(model) });
  }
  // The one for all runs now: nothing else is loaded.
  await init();
  for (const { blob } of loaded) (await Model.load(blob)).free();
  assert.deepEqual(look(), []);
  for (const { model, before } of loaded) {
    model.selfTest();
    assert.deepEqual(scoresOf(model), before);
    model.free();
  }
});

const scoresOf = (model) => [...model.scores(new Float32Array(model.info.inputs).fill(1.5))];

test('`Model.from` after `init` runs every model, whatever was loaded before', async () => {
  const { Model, init } = await fresh();
  assert.throws(() => Model.from(TABLE), { message: 'the runtime is not started: await init() first' });
  await Model.load(TABLE);
  Model.from(TABLE).free();
  const message = 'the runtime lacks families of the model: await init(), or take koan.wasm';
  assert.throws(() => Model.from(IMAGE), { message });
  await Promise.all([init(), Model.load(IMAGE)]);
  assert.deepEqual(look(), [PARTS[0], 'koan-simd.wasm']);
  for (const blob of [TABLE, IMAGE, MIXTURE]) Model.from(blob).free();
});

test('without SIMD there is the build for all', async (context) => {
  context.mock.method(WebAssembly, 'validate', () => false);
  const { Model } = await fresh();
  for (const blob of [TABLE, IMAGE, MIXTURE]) (await Model.load(blob)).selfTest();
  assert.deepEqual(look(), ['koan.wasm']);
});

test('a start that failed may be repeated', async () => {
  const { Model } = await fresh();
  isDown = true;
  await assert.rejects(Model.load(TABLE), { message: /koan-tables\.wasm: fetch failed$/ });
  isDown = false;
  (await Model.load(TABLE)).free();
  assert.deepEqual(look(), [PARTS[0]]);
});

/** What loading says; nothing if it is a model. */
async function said(load, blob) {
  try {
    const model = await load(blob);
    const row = new Float32Array(model.info.inputs);
    if (model.info.outputs) model.scores(row);
    model.free();
    return null;
  } catch (error) {
    assert.ok(!(error instanceof WebAssembly.RuntimeError), error.stack);
    return error.message;
  }
}

test('damaged blobs in the page: the host’s messages', async () => {
  // A page that a part runs in loads the sentences with the build for all; then that one runs.
  let { Model } = await fresh();
  await Model.load(TABLE);
  let told = 0;
  for (const { blob, message } of host.damaged) {
    if (look().includes('koan-simd.wasm') && told++ < 50) ({ Model } = await fresh());
    assert.equal(await said((blob) => Model.load(blob), Buffer.from(blob, 'hex')), message);
  }
  console.log(`  ${host.damaged.length} blobs, ${told} times sentences were loaded`);
  assert.ok(told > 10);
  look();
});

test('no bytes stop the page, or make it fail in another way', async () => {
  const { Model, init } = await fresh();
  let state = 1;
  const random = (below) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % below;
  const blobs = Array.from({ length: 3000 }, (_, i) => {
    if (i % 3) return Uint8Array.from({ length: random(100) }, () => random(256));
    // Of a model's start, with a few other bytes.
    const blob = Uint8Array.from(models[random(models.length)].blob.subarray(0, 19 + random(60)));
    for (let times = random(4); times > 0; times--) blob[random(blob.length)] = random(256);
    return blob;
  });
  blobs.push(new Uint8Array(1 << 20).fill(255), new Uint8Array(0));
  const first = await fresh();
  await init();
  for (const [i, blob] of blobs.entries()) {
    const message = await said((blob) => Model.from(blob), blob);
    assert.match(message, /^(the blob ends before|field `|not a koan|unknown format|checksum mismatch)/);
    if (i < 200) assert.equal(await said((blob) => first.Model.load(blob), blob), message);
  }
  look();
});

for (const part of PARTS) {
  test(`${part} by hand: models that it leaves out are refused, damaged ones as such`, async () => {
    const { Model, init } = await fresh('slim.js');
    await init(bytes(part));
    let left = 0;
    for (const { blob } of models) {
      const message = await said((blob) => Model.load(blob), blob);
      const others = partOf(blob) !== part && message !== null;
      assert.equal(message, others ? 'the runtime lacks families of the model: await init(), or take koan.wasm' : null);
      left += others;
    }
    console.log(`  ${models.length} models, ${left} refused`);
    assert.ok(left > 10);
    const damaged = Buffer.from(part === PARTS[0] ? IMAGE : TABLE);
    damaged[40] ^= 1;
    assert.equal(await said((blob) => Model.load(blob), damaged), 'checksum mismatch: the blob is damaged');
    // It has no sentences: the number of a fault is not told in words.
    assert.equal(await said((blob) => Model.load(blob), Buffer.from('none')), 'the model is refused: koan.wasm says why');
  });
}

test('a part carries a model', async () => {
  const { Model, embed } = await fresh();
  const both = await WebAssembly.compile(embed(bytes(PARTS[0]), TABLE));
  (await Model.load(both)).selfTest();
  assert.deepEqual(look(), []);
});
