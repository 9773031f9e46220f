// The rows that calls take, and those that they refuse.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { file, golden, installed, root } from './paths.mjs';

const { init, Model } = await import(pathToFileURL(file(installed, 'node.js')));
await init();
const models = golden();
const named = (name) => Model.from(models.find((model) => model.name === name).blob);

test('wrong rows and calls that do not suit are errors', () => {
  const model = named('digits.koan');
  const row = new Float32Array(64);
  const throws = (call, message) => assert.throws(call, { message });
  throws(() => model.classify(new Float32Array(3)), 'row has length 3, the model needs 64');
  throws(() => model.scores(new Uint8Array(65)), 'row has length 65, the model needs 64');
  throws(() => model.scores(new Float32Array(0)), 'row has length 0, the model needs 64');
  throws(() => model.scores(new Float32Array(1e6)), 'row has length 1000000, the model needs 64');
  throws(() => model.scoresMany(new Int16Array(130)), '130 numbers are no rows of 64');
  throws(() => model.predict(row), 'this call needs a regression model');
  throws(() => model.predictMany(row), 'this call needs a regression model');
  throws(() => model.classify([1, 2]), 'row has length 2, the model needs 64');
  throws(() => model.classify(new BigInt64Array(64)), 'a row is an array of numbers, not BigInt64Array');
  throws(() => model.classify(new DataView(new ArrayBuffer(64))), 'a row is an array of numbers, not DataView');
  throws(() => model.classify(undefined), 'a row is an array of numbers, not Undefined');
  throws(() => model.classify(Array(64)), 'input 0 is undefined, not a number');
  throws(() => model.classify([...Array(63).fill(0), null]), 'input 63 is null, not a number');
  throws(() => model.classify([...Array(63).fill(0), '7']), 'input 63 is "7", not a number');
  throws(() => model.classify({ a: 1 }), /^a row by the names of columns needs Model\.load\(…, \{ columns: Columns \}\)/);
  throws(() => model.classifyMany({ a: 1 }), 'several rows are an array');
  throws(() => model.classifyMany([null]), 'row 0: a row is an array of numbers, not Null');
  assert.equal(model.classifyMany(new Uint8Array(0)).length, 0);
  // It still works afterwards.
  const expected = models.find(({ name }) => name === 'digits.koan').rows[0];
  assert.deepEqual([...model.scores(Float32Array.from(expected.row))], expected.scores);
  const regression = named('stump-gaussian-w8even-t1.koan');
  throws(() => regression.classify(new Float32Array(regression.info.inputs)), 'this call needs a classification model');
});

test('a limit that is none is refused', () => {
  const { blob } = models.find(({ name }) => name === 'digits.koan');
  const { work } = Model.from(blob);
  assert.equal(Model.from(blob, { maxWork: work, columns: undefined, allowNaN: true }).work, work);
  const throws = (options, name, message) => assert.throws(() => Model.from(blob, options), { name, message });
  throws({ maxWork: work - 1 }, 'Error', `the model's work is ${work}, more than the limit of ${work - 1}`);
  for (const [maxWork, shown] of [[NaN, 'NaN'], ['1k', '"1k"'], ['100', '"100"'], [null, 'null'], [-1, '-1']]) {
    throws({ maxWork }, 'TypeError', `maxWork is ${shown}, not a number from 0 on`);
  }
  throws({ max_work: 1 }, 'TypeError', 'there is no option max_work');
});

test('columns that are no class are refused', () => {
  const { blob } = models.find(({ name }) => name === 'digits.koan');
  for (const columns of [{}, 'Columns', true]) {
    assert.throws(() => Model.from(blob, { columns }), {
      name: 'TypeError',
      message: 'columns is not Columns of koan-wasm/columns',
    });
  }
});

test('rows of every type, and lists of them', () => {
  const model = named('digits.koan');
  const { rows } = models.find(({ name }) => name === 'digits.koan');
  const [first, second] = rows.map(({ row }) => row);
  const expected = rows.slice(0, 2).flatMap(({ scores }) => scores);
  const lists = [
    [...first, ...second],
    [first, second],
    [Float32Array.from(first), Float64Array.from(second)],
    Float64Array.from([...first, ...second]),
    Uint8ClampedArray.from([...first, ...second]),
    // A Buffer looks for bytes where other arrays look for numbers; there are zeros among these.
    Buffer.from([...first, ...second]),
    [Buffer.from(first), Buffer.from(second)],
  ];
  for (const list of lists) assert.deepEqual([...model.scoresMany(list)], expected);
  assert.equal(model.scoresMany([]).length, 0);
  const message = 'row 1: row has length 63, the model needs 64';
  assert.throws(() => model.scoresMany([first, second.slice(1)]), { message });
  assert.throws(() => model.scoresMany([first, ['x']]), { message: 'row 1: input 0 is "x", not a number' });
});

test('NaN is refused, unless it was allowed: then it is unknown', () => {
  const { blob, rows } = models.find(({ name }) => name === 'digits.koan');
  const [strict, lenient] = [{}, { allowNaN: true }].map((options) => Model.from(blob, options));
  const row = rows[0].row.map((value, i) => (i === 5 ? NaN : value));
  const only = 'only a model loaded with { allowNaN: true } takes unknown numbers';
  for (const Type of [Array, Float32Array, Float64Array]) {
    assert.throws(() => strict.classify(Type.from(row)), { message: `input 5 is NaN: ${only}` });
    const both = Type.from([...rows[0].row, ...row]);
    assert.throws(() => strict.classifyMany(both), { message: `row 1, input 5 is NaN: ${only}` });
    assert.deepEqual([...lenient.scores(Type.from(row))], [...lenient.scores(Float32Array.from(row))]);
  }
  assert.throws(() => strict.classifyMany([row]), { message: `row 0: input 5 is NaN: ${only}` });
});

test('the name of a class', () => {
  const tiny = Model.from(readFileSync(file(root, 'core/tests/tiny.koan')));
  const { classNames } = tiny.info;
  const rows = [[0.3, -1.2], [-3, 5], [2, 2]];
  const names = rows.map((row) => tiny.predictLabel(row));
  assert.deepEqual(names, rows.map((row) => classNames[tiny.classify(row)]));
  assert.deepEqual(tiny.predictLabelMany(rows), names);
  assert.equal(names[0], 'right');
  const nameless = models.find(({ blob }) => {
    const { task, classNames } = Model.from(blob).info;
    return task === 'classification' && classNames.length === 0;
  });
  const model = Model.from(nameless.blob);
  const row = new Float32Array(model.info.inputs);
  assert.equal(model.predictLabel(row), String(model.classify(row)));
});
