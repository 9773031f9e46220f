// The packed package in node: golden models, every call against the host,
// errors, disposal, both builds.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { File } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { learn } from './learn.mjs';
import { consumer, file, golden, host as readHost, installed, learned, root } from './paths.mjs';
import { PARTS, partOf } from './parts.mjs';
import { replay } from './replay.mjs';

const models = golden();
const bytes = (name) => readFileSync(file(installed, name));
const at = (name) => pathToFileURL(file(installed, name));

/** A copy of the package of its own: the runtime is started once in each. */
async function fresh(entry, copy) {
  return import(`${at(entry)}?${copy}`);
}
async function build(wasm) {
  const koan = await fresh('slim.js', wasm);
  await koan.init(bytes(wasm));
  return koan;
}
const builds = { baseline: await build('koan.wasm'), simd: await build('koan-simd.wasm') };
const host = readHost();
const UNSURE = 'this call needs a model with probabilities';

for (const [name, { Model }] of Object.entries(builds)) {
  test(`golden models, ${name}`, () => {
    const { models: count, rows, differences } = replay(Model, models);
    console.log(`  ${count} models, ${rows} comparisons, ${differences.length} differences`);
    assert.deepEqual(differences, []);
  });

  test(`every call gives the host's results, ${name}`, () => {
    const bits = (array) => [...new Uint32Array(array.buffer)];
    // Probabilities are the engine's floats: within two units in the last place of 1.
    const near = (actual, expected) => {
      const floats = new Float32Array(Uint32Array.from(expected).buffer);
      assert.equal(actual.length, floats.length);
      actual.forEach((p, i) => assert.ok(Math.abs(p - floats[i]) <= 2 ** -22, `${p}, ${floats[i]}`));
    };
    let compared = 0;
    for (const expected of host.models) {
      const { blob, rows } = models.find((model) => model.name === `${expected.name}.koan`);
      const model = Model.from(blob, { allowNaN: true });
      const { task, inputs, outputs, classes, features, classNames, notes, scoreScale, seed } = model.info;
      assert.deepEqual(
        { task, inputs, outputs, classes, features, classNames: [...classNames], notes, seed: String(seed), bytes: blob.length },
        expected.info,
      );
      assert.equal(model.info.bufferBytes, expected.bufferBytes);
      assert.equal(scoreScale, expected.scoreScale);
      expected.rows.forEach((calls, number) => {
        const row = Float32Array.from(rows[number].row, Number);
        assert.deepEqual([...model.features(row)], calls.features);
        assert.deepEqual(bits(model.values(row)), calls.values);
        if (task === 'classification') {
          assert.equal(model.classify(row), calls.class);
          if (calls.probabilities) near(model.probabilities(row), calls.probabilities);
          else assert.throws(() => model.probabilities(row), { message: UNSURE });
        } else {
          assert.deepEqual(bits(new Float32Array([model.predict(row)])), [calls.values[0]]);
        }
        compared += 1;
      });
      const all = Float32Array.from(rows.flatMap(({ row }) => row.map(Number)));
      const each = (call) => expected.rows.flatMap((calls) => calls[call]);
      assert.deepEqual([...model.featuresMany(all)], each('features'));
      assert.deepEqual(bits(model.valuesMany(all)), each('values'));
      if (task === 'classification') {
        assert.deepEqual([...model.classifyMany(all)], each('class'));
        if (expected.rows[0].probabilities) near(model.probabilitiesMany(all), each('probabilities'));
        else assert.throws(() => model.probabilitiesMany(all), { message: UNSURE });
      } else {
        const first = expected.rows.map(({ values }) => values[0]);
        assert.deepEqual(bits(model.predictMany(all)), first);
      }
      model.free();
    }
    console.log(`  ${host.models.length} models, ${compared} rows`);
    assert.ok(compared > 500);
  });

  test(`damaged blobs: the host's messages, nothing traps, ${name}`, () => {
    let refused = 0;
    for (const { blob, message } of host.damaged) {
      let actual = null;
      try {
        const model = Model.from(Buffer.from(blob, 'hex'));
        const row = new Float32Array(model.info.inputs);
        if (model.info.outputs > 0) model.scores(row);
        model.free();
      } catch (error) {
        assert.ok(!(error instanceof WebAssembly.RuntimeError), error.stack);
        actual = error.message;
        refused += 1;
      }
      assert.equal(actual, message);
    }
    console.log(`  ${host.damaged.length} blobs, ${refused} refused`);
  });
}

for (const [name, { Model }] of Object.entries(builds)) {
  test(`models without outputs: features and golden digest, ${name}`, () => {
    const kinds = new Set();
    for (const { blob: text, row, features } of host.features) {
      const blob = Buffer.from(text, 'hex');
      const others = blob.readUInt16LE(6) - 1;
      // A map for each input, or a gain, or a map for each channel.
      const more = [0, 6 * others, others, 1 + 6 * (blob[19] - 1)][blob[5] >> 1];
      kinds.add(blob[25 + more] & 15);
      const model = Model.from(blob);
      model.selfTest();
      assert.deepEqual([...model.features(Int16Array.from(row))], features);
      assert.throws(() => model.scores(Int16Array.from(row)), { message: 'this call needs a model with outputs' });
      model.free();
    }
    console.log(`  ${host.features.length} models of ${kinds.size} families`);
    assert.equal(kinds.size, 9);
  });
}

for (const [name, { Model }] of Object.entries(builds)) {
  test(`input maps of any kind, of any floats, ${name}`, () => {
    let between = 0;
    for (const { blob, row, features } of host.maps) {
      const model = Model.from(Buffer.from(blob, 'hex'), { allowNaN: true });
      const floats = new Float32Array(Uint32Array.from(row).buffer);
      const actual = [...model.features(floats)];
      assert.deepEqual(actual, features, `${blob}: ${floats}`);
      between += actual.filter((value) => value && Math.abs(value) < 32766).length;
      model.free();
    }
    console.log(`  ${host.maps.length} maps, ${between} numbers between 0 and the limits`);
    assert.ok(between > 10 * host.maps.length);
  });
}

test('the cosine of every phase is the same with SIMD and without', () => {
  const blob = Buffer.from(host.phases, 'hex');
  const inputs = Float32Array.from({ length: 65535 }, (_, i) => i - 32767);
  const [baseline, simd] = Object.values(builds).map(({ Model }) => {
    const model = Model.from(blob);
    const features = model.featuresMany(inputs);
    model.free();
    return features;
  });
  assert.equal(baseline.length, 43 * 65535);
  // A feature goes once around the circle, so about every other value of a byte comes up.
  const distinct = new Set(baseline.filter((_, i) => i % 43 === 0)).size;
  const differences = baseline.reduce((count, value, i) => count + (value !== simd[i]), 0);
  console.log(`  ${baseline.length} features, ${distinct} values of the first, ${differences} differences`);
  assert.ok(distinct > 100);
  assert.equal(differences, 0);
});

test('SIMD is in the builds that have it, in their hot loops, and not in the other', () => {
  const text = (wasm) =>
    execFileSync(
      file(root, 'wasm/node_modules/.bin/wasm-dis'),
      ['--all-features', file(installed, wasm)],
      { encoding: 'utf8', maxBuffer: 1 << 26 },
    );
  const count = (wat, op) => wat.split(`(${op}`).length - 1;
  const [baseline, simd] = [text('koan.wasm'), text('koan-simd.wasm')];
  // Input maps, transforms, cosines and weighted sums.
  const ops = ['i32x4.trunc_sat_f32x4_s', 'i16x8.add', 'i8x16.swizzle', 'i32x4.dot_i16x8_s'];
  console.log(`  ${ops.map((op) => `${op} ${count(simd, op)}`).join(', ')}`);
  for (const op of ops) assert.ok(count(simd, op) > 0, op);
  for (const part of PARTS.map(text)) for (const op of ops) assert.ok(count(part, op) > 0, op);
  assert.equal(count(baseline, 'v128'), 0);
});

test('the build is chosen by what the engine can', async (context) => {
  const loaded = [];
  for (const can of [true, false]) {
    const compile = context.mock.method(WebAssembly, 'compile');
    const validate = context.mock.method(WebAssembly, 'validate', () => can);
    const { Model, hasSimd } = await fresh('node.js', `simd-${can}`);
    assert.equal(hasSimd(), can);
    const model = await Model.load(file(consumer, 'public/digits.koan'));
    model.selfTest();
    loaded.push(compile.mock.calls[0].arguments[0].byteLength);
    compile.mock.restore();
    validate.mock.restore();
  }
  assert.deepEqual(loaded, [bytes('koan-simd.wasm').length, bytes('koan.wasm').length]);
});

test('a model is loaded from whatever holds it', async () => {
  const { Model, embed, init } = await fresh('node.js', 'sources');
  const path = file(consumer, 'public/digits.koan');
  const blob = readFileSync(path);
  const whole = await WebAssembly.compile(embed(bytes('koan.wasm'), blob));
  const buffer = blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.length);
  const data = `data:application/octet-stream;base64,${blob.toString('base64')}`;
  const sources = [blob, buffer, path, pathToFileURL(path), data, new URL(data), new Response(blob), new Blob([blob]), new File([blob], 'a.koan'), Promise.resolve(blob), whole];
  // Two at once share one start.
  await Promise.all([init(), init()]);
  for (const source of sources) assert.equal((await Model.load(source)).info.bytes, blob.length);
  const rejects = (source, message) => assert.rejects(Model.load(source), { message });
  await rejects(new Response('', { status: 404 }), 'HTTP status 404 for ');
  await rejects('no/such.koan', /ENOENT.*no\/such\.koan/);
  // A port that nobody listens on.
  const nowhere = 'http://127.0.0.1:9/no.koan';
  for (const address of [nowhere, new URL(nowhere)]) {
    const unreached = (error) => error.message === `${nowhere}: fetch failed` && error.cause instanceof TypeError;
    await assert.rejects(Model.load(address), unreached);
  }
  await rejects(await WebAssembly.compile(bytes('koan.wasm')), 'the WebAssembly module has no custom section `koan`');
  await rejects(7, 'a model is loaded from bytes, a URL, a Response, a Blob or a WebAssembly.Module');
  await rejects(undefined, 'a model is loaded from bytes, a URL, a Response, a Blob or a WebAssembly.Module');
  const message = 'a model is loaded from bytes, a URL, a Response, a Blob or a WebAssembly.Module';
  await rejects([1, 2, 3], message);
  for (const wrong of ['./a.koan', undefined, [1, 2, 3], 64]) {
    assert.throws(() => Model.from(wrong), { name: 'TypeError', message });
  }
  assert.equal(Model.from(buffer).info.bytes, blob.length);
  const refused = 'not a koan blob: it does not start with the bytes KOAN';
  await rejects(new Response('<!doctype html>'), refused);
  const garbage = file(root, 'tests/golden/bad/garbage.bin');
  await rejects(garbage, `${garbage}: ${refused}`);
  await rejects(pathToFileURL(garbage), `${pathToFileURL(garbage)}: ${refused}`);
  await rejects(`data:,${'no model '.repeat(100)}`, /^data:,[^:]{93}: not a koan blob/);
  await rejects(fetch('data:,nomodel'), `data:,nomodel: ${refused}`);
  await rejects(new File(['no model'], 'mine.koan'), `mine.koan: ${refused}`);
  await assert.rejects(Model.load(garbage, { maxwork: 7 }), { message: 'there is no option maxwork' });
});

test('a start that failed may be repeated', async () => {
  const { init, Model } = await fresh('slim.js', 'again');
  assert.throws(() => Model.from(new Uint8Array(4)), { message: 'the runtime is not started: await init() first' });
  await assert.rejects(init(), { message: 'there is no runtime: call init() with koan.wasm first' });
  await assert.rejects(init(new Uint8Array(3)));
  // A server that answers with a page whatever it is asked for.
  const page = 'data:text/html,<!doctype html>';
  await assert.rejects(init(fetch(page)), ({ message }) => message.startsWith(`${page}: `));
  await init(bytes('koan.wasm'));
  Model.from(models[0].blob).free();
});

const { Model } = builds.simd;
const named = (name) => Model.from(models.find((model) => model.name === name).blob);

test('results are copies, and live on', () => {
  const model = named('digits.koan');
  const [first, second] = [new Float32Array(64), new Float32Array(64).fill(16)];
  const scores = model.scores(first);
  const before = [...scores];
  model.scores(second);
  model.free();
  assert.deepEqual([...scores], before);
});

test('batches longer than the shared memory', () => {
  const model = named('digits.koan');
  const rows = Float32Array.from({ length: 64 * 3001 }, (_, i) => (i * 7919) % 17);
  const batch = model.scoresMany(rows);
  for (const number of [0, 127, 128, 129, 1500, 3000]) {
    const row = rows.subarray(64 * number, 64 * (number + 1));
    assert.deepEqual([...model.scores(row)], [...batch.subarray(10 * number, 10 * (number + 1))]);
  }
  const features = model.featuresMany(rows.subarray(0, 64 * 100));
  assert.deepEqual(
    [...model.features(rows.subarray(64 * 99, 64 * 100))],
    [...features.subarray(99 * model.info.features)],
  );
});

test('a freed model is an error, freeing twice is none', () => {
  const model = named('digits.koan');
  model.free();
  model.free();
  for (const call of ['classify', 'scores', 'probabilities', 'features', 'scoresMany']) {
    assert.throws(() => model[call](new Float32Array(64)), { message: 'the model was freed' });
  }
  assert.throws(() => model.selfTest(), { message: 'the model was freed' });
  assert.equal(model.info.inputs, 64);
  const disposed = named('digits.koan');
  disposed[Symbol.dispose]();
  assert.throws(() => disposed.selfTest(), { message: 'the model was freed' });
});

/** A build of its own, and the memory that it works in. */
async function withMemory(context, copy, wasm = 'koan.wasm') {
  const instantiate = context.mock.method(WebAssembly, 'instantiate');
  const koan = await fresh(wasm === 'koan-json.wasm' ? 'json-node.js' : 'slim.js', copy);
  await koan.init(bytes(wasm));
  const { exports } = await instantiate.mock.calls[0].result;
  instantiate.mock.restore();
  return { ...koan, memory: exports.memory };
}

test('memory is given back: models come and go, others stay', async (context) => {
  const { Model, memory } = await withMemory(context, 'leak');
  const { blob } = models.find(({ name }) => name === 'digits.koan');
  const [first, kept] = [Model.from(blob), Model.from(blob)];
  const row = new Float32Array(64).fill(5);
  const before = [...kept.scores(row)];
  Model.from(blob).free();
  // A gap in front of the model that stays.
  first.free();
  const { byteLength } = memory.buffer;
  for (let i = 0; i < 10000; i++) Model.from(blob).free();
  assert.throws(() => Model.from(new Uint8Array(100)), /not a koan blob/);
  for (let i = 0; i < 10000; i++) assert.throws(() => Model.from(blob.subarray(0, 2000)));
  assert.equal(memory.buffer.byteLength, byteLength);
  assert.deepEqual([...kept.scores(row)], before);
  // Many at once, of different lengths, freed in another order.
  const some = models.slice(0, 100).map(({ blob, rows }) => ({ model: Model.from(blob, { allowNaN: true }), rows }));
  const check = ({ model, rows: [{ row, scores }] }) =>
    assert.deepEqual([...model.scores(Float32Array.from(row, Number))], scores);
  some.filter((_, i) => i % 3 === 0).forEach(({ model }) => model.free());
  const more = models.slice(100, 150).map(({ blob, rows }) => ({ model: Model.from(blob, { allowNaN: true }), rows }));
  const all = [...some.filter((_, i) => i % 3), ...more].filter(({ model }) => model.info.outputs);
  all.forEach(check);
  all.reverse().forEach(check);
  assert.deepEqual([...kept.scores(row)], before);
});

test('the stack, the first 4 KB of memory, is at most half full', async (context) => {
  for (const wasm of ['koan.wasm', 'koan-simd.wasm', 'koan-json.wasm', ...PARTS]) {
    const { Model, memory } = await withMemory(context, `stack-${wasm}`, wasm);
    const isPart = PARTS.includes(wasm);
    for (const { blob, rows } of models) {
      if (isPart && partOf(blob) !== wasm) continue;
      const model = Model.from(blob, { allowNaN: true });
      model.selfTest();
      model.features(Float32Array.from(rows[0].row, Number));
      if (wasm === 'koan-json.wasm') model.json(JSON.stringify(rows[0].row.map((x) => Number(x) || null)));
      model.free();
    }
    for (const { blob, message } of host.damaged) {
      // A part refuses them in fewer words.
      if (message) assert.throws(() => Model.from(Buffer.from(blob, 'hex')), isPart ? Error : { message });
    }
    // It grows down, and was zeros.
    const stack = new Uint8Array(memory.buffer, 0, 4096);
    const depth = stack.length - stack.findIndex((byte) => byte !== 0);
    console.log(`  ${wasm}: ${depth} bytes`);
    assert.ok(depth > 0 && depth <= stack.length / 2);
  }
});

test('memory that cannot grow is an error, and lasts', async (context) => {
  const { Model, memory } = await withMemory(context, 'grow');
  const { blob, rows } = models.find(({ name }) => name === 'digits.koan');
  const grow = context.mock.method(memory, 'grow', () => {
    throw new RangeError('WebAssembly.Memory.grow(): Maximum memory size exceeded');
  });
  assert.throws(() => Model.from(new Uint8Array(1 << 20)), { message: 'out of memory' });
  grow.mock.restore();
  assert.throws(() => Model.from(new Uint8Array(0)), { message: 'the blob ends before field `magic` at offset 0' });
  const model = Model.from(blob);
  assert.deepEqual([...model.scores(Float32Array.from(rows[0].row))], rows[0].scores);
});

test('rows and answers as JSON text, in the entry that has them', async () => {
  const json = await fresh('json-node.js', 'json');
  const path = file(root, 'tests/golden/digits.koan');
  const [{ row, scores }] = models.find(({ name }) => name === 'digits.koan').rows;
  const model = await json.Model.load(path);
  const answer = JSON.parse(model.json(JSON.stringify(row)));
  assert.deepEqual(answer.scores, scores);
  assert.equal(answer.class, model.classify(Float32Array.from(row)));
  assert.equal(answer.name, model.info.classNames[answer.class]);
  const probabilities = model.probabilities(Float32Array.from(row));
  probabilities.forEach((p, i) => assert.ok(Math.abs(p - answer.probabilities[i]) <= 2 ** -22));
  // Numbers as text become the f32 that they are nearest to.
  const odd = row.map((_, i) => [0.1, 1e-3, 3.3333333333, 16777217, -0.0][i % 5]);
  assert.deepEqual(
    JSON.parse(model.json(JSON.stringify(odd))).scores,
    [...model.scores(Float32Array.from(odd))],
  );
  assert.throws(() => model.json('[1, 2]'), { message: 'row has length 2, the model needs 64' });
  // Room for so long a text grows the memory.
  const long = `[${'1,'.repeat(70_000)}1]`;
  assert.throws(() => model.json(long), { message: 'row has length 70001, the model needs 64' });
  const no = 'the text is not a JSON array of numbers';
  for (const text of ['', 'x', '{}', '[1', '["a"]', '[1, 2] 3', `[,${row}]`]) {
    assert.throws(() => model.json(text), { message: no });
  }
  const regression = json.Model.from(models.find(({ name }) => name === 'linear-w4odd-t1.koan')?.blob ?? models[0].blob);
  const other = JSON.parse(regression.json(JSON.stringify(Array(regression.info.inputs).fill(null))));
  assert.equal(other.scores.length, regression.info.outputs);
  const { blob, row: words } = host.features[0];
  const without = json.Model.from(Buffer.from(blob, 'hex'));
  assert.throws(() => without.json(JSON.stringify(words)), { message: 'this call needs a model with outputs' });
  assert.throws(() => named('digits.koan').json('[]'), { message: 'this runtime has no JSON: import from koan-wasm/json' });
});

test('a detector of anomalies has no probabilities, as for the command', async () => {
  const path = file(root, 'wasm/page/detector.koan');
  const row = Array(64).fill(1);
  const input = `${row}\n`;
  const koan = (...args) => execFileSync(process.env.KOAN, args, { input, encoding: 'utf8', stdio: 'pipe' });
  assert.throws(() => koan('predict', path, '-', '--probabilities'), { stderr: /a detector of anomalies has no probabilities/ });
  const { Model } = await fresh('json-node.js', 'detector');
  const model = await Model.load(path);
  assert.throws(() => model.probabilities(row), { message: UNSURE });
  assert.throws(() => model.probabilitiesMany([row]), { message: UNSURE });
  const { name, probabilities } = JSON.parse(model.json(JSON.stringify(row)));
  assert.deepEqual([name, probabilities], [model.predictLabel(row), undefined]);
  assert.equal(koan('predict', path, '-', '--header', 'no').trim().split('\n').at(-1), name);
});

test('a failed self test says what differs', async (context) => {
  const forged = (blob, at) => {
    const damaged = Buffer.from(blob);
    damaged[at] ^= 1;
    damaged.writeUInt32LE(crc32(damaged.subarray(0, -4)), damaged.length - 4);
    return Model.from(damaged);
  };
  const tiny = readFileSync(file(root, 'core/tests/tiny.koan'));
  Model.from(tiny).selfTest();
  const fails = (model, what) =>
    assert.throws(() => model.selfTest(), { message: `self test failed: ${what} differs on this build` });
  fails(forged(tiny, tiny.length - 8), 'golden digest');
  // The score of its golden row, whose section ends in front of digest and checksum.
  fails(forged(tiny, tiny.length - 12), 'golden row 0');
  for (const { blob: text } of host.features) {
    const blob = Buffer.from(text, 'hex');
    fails(forged(blob, blob.length - 8), 'golden digest');
  }
  // The bytes in memory are checked, not those that were given.
  const { Model: Other, memory } = await withMemory(context, 'bits');
  const model = Other.from(tiny);
  const bytesInMemory = Buffer.from(memory.buffer);
  bytesInMemory[bytesInMemory.indexOf(tiny) + 40] ^= 1;
  assert.throws(() => model.selfTest(), { message: 'checksum mismatch: the blob is damaged' });
});

test('learning makes the patch that the host makes', async () => {
  const patch = await learn(readFileSync(learned));
  console.log(`  ${patch.length} bytes`);
  assert.deepEqual(patch, host.learned);
});

test('a node script of the project runs', () => {
  const printed = execFileSync(process.execPath, ['script.js'], { cwd: consumer, encoding: 'utf8' });
  assert.deepEqual(Object.keys(JSON.parse(printed)), ['simd', 'classes', 'class']);
});

function crc32(data) {
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}
