// Tables for models whose notes have codes in place of names and values: the page reads
// them as the trainer does. The same file is read by `host/data/src/tests/notes.rs`.

import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { file, root } from './paths.mjs';

const built = file(root, 'target/columns.mjs');
await build({ entryPoints: [file(root, 'wasm/page/columns.ts')], bundle: true, format: 'esm', outfile: built });
const { read } = await import(pathToFileURL(built));
rmSync(built);

const fixture = file(root, 'host/data/src/tests/fixtures/coded_notes.json');
const { notes, inputs, csv, rows } = JSON.parse(readFileSync(fixture, 'utf8'));
const info = { notes: JSON.stringify(notes), inputs };
/** The places of the numbers of a row that are not 0. */
const places = (table, row) => {
  const numbers = [...table.rows.slice(row * inputs, (row + 1) * inputs)];
  return numbers.flatMap((number, place) => (number === 0 ? [] : [[place, number]]));
};

test('values and names are found by their codes', () => {
  const table = read(csv, info);
  assert.deepEqual(rows.map((_, row) => places(table, row)), rows);
  assert.equal(table.rows.length, rows.length * inputs);
  assert.equal(table.targets.length, rows.length);
});

test('the same in another order, and without names', () => {
  const lines = csv.trim().split('\n').map((line) => line.split(','));
  const text = (lines) => lines.map((line) => line.join(',')).join('\n');
  const turned = read(text(lines.map((line) => [...line].reverse())), info);
  assert.deepEqual(rows.map((_, row) => places(turned, row)), rows);
  const bare = read(text(lines.slice(1)), info);
  assert.deepEqual(rows.map((_, row) => places(bare, row)), rows);
});

test('two columns with the code of one are refused', () => {
  const code = (name) => JSON.stringify(notes).includes(name);
  assert.ok(!code('age'), 'names are codes');
  const twice = csv.trim().split('\n').map((line) => `${line},${line.split(',')[0]}`).join('\n');
  assert.throws(() => read(twice, info), /cannot tell the columns apart: age, age/);
});

test('whole numbers as categories, however they are written', () => {
  const notes = JSON.stringify({ columns: [['a', 0, 2], 'b', [1, 9, 11], 0] });
  const table = read('1.0,2.5,10\n+2,0,9\n02,1,11.0\n', { notes, inputs: 7 });
  const rows = [0, 1, 2].map((row) => [...table.rows.slice(row * 7, row * 7 + 7)]);
  assert.deepEqual(rows, [
    [0, 1, 0, 2.5, 1, 0, 0],
    [0, 0, 1, 0, 0, 0, 1],
    // 02 is another name than 2.
    [0, 0, 0, 1, 0, 1, 0],
  ]);
});
