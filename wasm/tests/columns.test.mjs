// Rows as they stand in the data, for models whose notes have codes in place of names and values:
// the package reads them as the trainer does. `host/data/src/tests/notes.rs` reads the same file.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { file, installed, root } from './paths.mjs';

const { Columns, readTable } = await import(pathToFileURL(file(installed, 'columns.js')));

const { init, Model } = await import(pathToFileURL(file(installed, 'node.js')));

const fixture = file(root, 'host/data/src/tests/fixtures/coded_notes.json');
const { notes, inputs, csv, rows } = JSON.parse(readFileSync(fixture, 'utf8'));
const info = { notes: JSON.stringify(notes), inputs };
const zeros = { unknown: 'zeros' };
/** The places of the numbers of a row that are not 0. */
const places = (table, row) => {
  const numbers = [...table.rows.slice(row * inputs, (row + 1) * inputs)];
  return numbers.flatMap((number, place) => (number === 0 ? [] : [[place, number]]));
};

test('values and names are found by their codes', () => {
  const table = readTable(csv, info, zeros);
  assert.deepEqual(rows.map((_, row) => places(table, row)), rows);
  assert.equal(table.rows.length, rows.length * inputs);
  assert.equal(table.targets.length, rows.length);
});

test('the same in another order, and without names', () => {
  const lines = csv.trim().split('\n').map((line) => line.split(','));
  const text = (lines) => lines.map((line) => line.join(',')).join('\n');
  const turned = readTable(text(lines.map((line) => [...line].reverse())), info, zeros);
  assert.deepEqual(rows.map((_, row) => places(turned, row)), rows);
  const bare = readTable(text(lines.slice(1)), info, zeros);
  assert.deepEqual(rows.map((_, row) => places(bare, row)), rows);
});

test('rows of fields: by name in any order, by position, and of numbers', () => {
  const columns = new Columns(info, zeros);
  const [header, ...lines] = csv.trim().split('\n').map((line) => line.split(','));
  const named = lines.map((line) => Object.fromEntries(line.map((field, i) => [header[i], field])));
  const numbered = named.map((row) => ({ other: null, ...row, age: Number(row.age), 'capital-gain': Number(row['capital-gain']) }));
  const turned = named.map((row) => Object.fromEntries(Object.entries(row).reverse()));
  const withoutTarget = lines.map((line) => line.slice(0, -1));
  const spaced = lines.map((line) => line.map((field) => ` ${field}`));
  for (const list of [named, numbered, turned, lines, withoutTarget, spaced]) {
    const table = { rows: columns.rows(list) };
    assert.deepEqual(rows.map((_, row) => places(table, row)), rows);
    list.forEach((fields, row) => assert.deepEqual(columns.row(fields), table.rows.slice(row * inputs, (row + 1) * inputs)));
  }
});

test('fields that are missing or wrong are named', () => {
  const notes = JSON.stringify({
    columns: [{ name: 'age', missing: 38.5 }, { name: 'city', values: ['Bonn', 'Graz'] }, 'height', { target: 'sick' }],
  });
  const columns = new Columns({ notes, inputs: 4 });
  const row = { age: 20, city: 'Graz', height: 1.75 };
  assert.deepEqual([...columns.row(row)], [20, 0, 1, 1.75]);
  for (const age of [null, undefined, NaN, '', '?', 'NA']) {
    assert.deepEqual([...columns.row({ ...row, age })], [38.5, 0, 1, 1.75]);
  }
  const throws = (call, message) => assert.throws(call, { message });
  const lenient = new Columns({ notes, inputs: 4 }, zeros);
  for (const city of ['Oslo', 7, true]) {
    assert.deepEqual([...lenient.row({ ...row, city })], [20, 0, 0, 1.75]);
    throws(() => columns.row({ ...row, city }), `column city: \`${city}\` is none of the 2 values: Bonn, Graz`);
  }
  // Where numbers were missing in training, texts may have been, too.
  for (const city of [null, undefined, NaN, '', '?', 'NA']) {
    for (const given of [columns, lenient]) assert.deepEqual([...given.row({ ...row, city })], [20, 0, 0, 1.75]);
  }
  throws(() => columns.row({ ...row, height: null }), 'column height: a number is missing');
  throws(() => columns.row({ ...row, height: 'tall' }), 'column height: `tall` is not a number');
  throws(() => columns.row([20, 'Graz', Infinity]), 'column 3 (height): `Infinity` is not a number');
  throws(() => columns.row({ age: 20, city: 'Graz' }), 'the row lacks column `height`; it has: age, city');
  throws(() => columns.row([1, 2]), 'a row of 2 fields: the model needs 3 columns (4 with the target)');
  throws(() => columns.row({ ...row, height: '1e39' }), 'column height: 1e39 is beyond the range of numbers');
  throws(() => columns.row(null), 'a row is an object or an array, not null');
  throws(() => columns.rows([row, { ...row, age: 'old' }]), 'row 1: column age: `old` is not a number');
  throws(() => new Columns({ notes, inputs: 5 }), 'the columns that the model names make 4 inputs, it takes 5');
  throws(() => new Columns({ notes: '{"format":"idx"}', inputs: 5 }), 'the model was trained on idx data, not on a table of columns');
  const windows = { notes: '{"columns":["x","y","z",{"target":"t"}],"window":[128,32]}', inputs: 384 };
  for (const call of [() => new Columns(windows), () => readTable('x,y,z\n1,2,3\n', windows)]) {
    throws(call, 'the columns that the model names make 3 inputs, it takes windows of 128 samples: 384');
  }
  const nameless = new Columns({ notes: '', inputs: 2 });
  throws(() => nameless.row({ a: 1, b: 2 }), 'the model has columns without a name: give the fields as an array, in their order');
  assert.deepEqual([...nameless.row(['1', 2])], [1, 2]);
});

test('two columns with the code of one are refused', () => {
  const code = (name) => JSON.stringify(notes).includes(name);
  assert.ok(!code('age'), 'names are codes');
  const twice = csv.trim().split('\n').map((line) => `${line},${line.split(',')[0]}`).join('\n');
  assert.throws(() => readTable(twice, info), /cannot tell the columns apart: age, age/);
});

test('whole numbers as categories, however they are written', () => {
  const notes = JSON.stringify({ columns: [['a', 0, 2], 'b', [1, 9, 11], 0] });
  const table = readTable('1.0,2.5,10\n+2,0,9\n02,1,11.0\n', { notes, inputs: 7 });
  const rows = [0, 1, 2].map((row) => [...table.rows.slice(row * 7, row * 7 + 7)]);
  assert.deepEqual(rows, [
    [0, 1, 0, 2.5, 1, 0, 0],
    [0, 0, 1, 0, 0, 0, 1],
    // 02 is another name than 2.
    [0, 0, 0, 1, 0, 1, 0],
  ]);
});

test('a text that training did not have is an error, unless zeros are asked for', () => {
  const throws = (call, message) => assert.throws(call, { message });
  const known = Array.from({ length: 12 }, (_, i) => `c${i}`);
  const notes = JSON.stringify({ columns: [{ name: 'city', values: known }, ['day', 1, 3], 'heat'] });
  const table = (city, day, given) => [...readTable(`city,day,heat\nc1,2,5\n${city},${day},6\n`, { notes, inputs: 16 }, given).rows.slice(16)];
  const hot = (...places) => [...Array.from({ length: 15 }, (_, i) => Number(places.includes(i))), 6];
  assert.deepEqual(table('c2', 3), hot(2, 14));
  const ten = 'c0, c1, c2, c3, c4, c5, c6, c7, c8, c9';
  throws(() => table('Oslo', 3), `line 3, column 1 (city): \`Oslo\` is none of the 12 values: ${ten}`);
  throws(() => table('?', 3), 'line 3, column 1 (city): a value is missing');
  throws(() => table('c2', 'x'), 'line 3, column 2 (day): `x` is none of the 3 values: 1, 2, 3');
  // Of categories that are numbers nobody wrote a list.
  assert.deepEqual(table('c2', 4), hot(2));
  assert.deepEqual([table('Oslo', 4, zeros), table('?', 'x', zeros)], [hot(), hot()]);
  const columns = new Columns({ notes, inputs: 16 });
  const row = { city: 'c1', day: 1, heat: 0 };
  throws(() => columns.rows([row, { ...row, city: null }]), 'row 1: column city: a value is missing');
  throws(() => columns.rows([row, { ...row, city: 4 }]), `row 1: column city: \`4\` is none of the 12 values: ${ten}`);
  for (const unknown of ['zero', null, true]) {
    const told = { name: 'TypeError', message: `unknown is ${unknown}, not error or zeros` };
    assert.throws(() => new Columns({ notes, inputs: 16 }, { unknown }), told);
    assert.throws(() => table('c2', 3, { unknown }), told);
  }
  assert.deepEqual(table('c2', 3, { unknown: undefined }), table('c2', 3, { unknown: 'error' }));
  // What is misspelt would do nothing.
  const misspelt = { name: 'TypeError', message: 'there is no option unknwon' };
  assert.throws(() => new Columns({ notes, inputs: 16 }, { unknwon: 'zeros' }), misspelt);
  assert.throws(() => table('c2', 3, { unknwon: 'zeros' }), misspelt);
  assert.throws(() => table('c2', 3, { heading: true }), { name: 'TypeError', message: 'there is no option heading' });
  // The model for what it says of itself, bytes for text.
  const other = { name: 'TypeError', message: 'columns are read of the `info` of a model' };
  assert.throws(() => new Columns(Object.create(null)), other);
  assert.throws(() => readTable('city\n', undefined), other);
  const text = { name: 'TypeError', message: 'a table is read of its text' };
  assert.throws(() => readTable(new Uint8Array(3), { notes, inputs: 16 }), text);
  // Codes say nothing of their texts.
  const lines = csv.trim().split('\n');
  throws(() => readTable(`${lines[0]}\n${lines[6]}\n`, info), /^line 2, column 2 .*: a value is missing$/);
  throws(() => readTable(`${lines[0]}\n${lines[7]}\n`, info), /^line 2, column 2 .*: `Volunteer` is none of the 8 values$/);
});

test('truth values are 1 and 0 in a column of numbers', () => {
  const columns = new Columns({ notes: '{"columns":["on"]}', inputs: 1 });
  assert.deepEqual([true, false].map((on) => [...columns.row({ on })]), [[1], [0]]);
  assert.throws(() => columns.row({ on: 'true' }), { message: 'column on: `true` is not a number' });
  const whole = new Columns({ notes: '{"columns":[["on",0,2]]}', inputs: 3 });
  assert.deepEqual([true, false].map((on) => [...whole.row({ on })]), [[0, 1, 0], [1, 0, 0]]);
});

test('a header without the model’s names is refused, rows without a header are taken by position', () => {
  const notes = JSON.stringify({ columns: ['temp', 'humidity', { target: 'room' }] });
  const table = (text) => readTable(text, { notes, inputs: 2 });
  const lacking = { message: 'the table lacks column `temp`; it has: Temp, Room, Humidity' };
  assert.throws(() => table('Temp,Room,Humidity\n1,2,3\n'), lacking);
  const bare = table('1,2,4\n4,5,6\n');
  assert.deepEqual([[...bare.rows], bare.targets, bare.lines], [[1, 2, 4, 5], ['4', '6'], [1, 2]]);
  assert.deepEqual([...table('1,2\n4,5\n').rows], [1, 2, 4, 5]);
  // A detector of anomalies has no target: another column is none.
  const detector = { notes: JSON.stringify({ columns: ['At1', 'At2', { target: '' }] }), inputs: 2 };
  assert.throws(() => readTable('temp,humidity,room\n1,2,3\n', detector), /lacks column `At1`/);
  // A model that keeps no names knows none.
  const nameless = readTable('temp,humidity,room\n1,2,3\n', { notes: '{"columns":[2,0]}', inputs: 2 });
  assert.deepEqual([[...nameless.rows], nameless.targets], [[1, 2], ['3']]);
  const many = { message: 'the table has 4 columns, the model needs 2 columns (3 with the target)' };
  assert.throws(() => table('1,2,3,4\n'), many);
});

test('a first line that counts up is a header or a row, which somebody has to say', () => {
  const columns = ['temp', 'humidity', { target: 'room' }];
  const info = { notes: JSON.stringify({ columns }), inputs: 2 };
  for (const [text, line] of [['0,1,2\n3,4,5\n', 1], ['\n1,2,3\n3,4,5\n', 2]]) {
    const message = `line ${line} may be a header of numbers, or the first row: say by \`header\` which it is`;
    assert.throws(() => readTable(text, info), { message });
    assert.equal(readTable(text, info, { header: false }).rows.length, 4);
    // Columns with names are not among them.
    assert.throws(() => readTable(text, info, { header: true }), /lacks column `temp`/);
    const nameless = { notes: '{"columns":[2,0]}', inputs: 2 };
    assert.throws(() => readTable(text, nameless), { message });
    assert.deepEqual([...readTable(text, nameless, { header: true }).rows], [3, 4]);
  }
  // Neither counts all columns.
  for (const text of ['0,1\n3,4\n', '0,1,on\n3,4,off\n', '0,2,1\n3,4,5\n']) {
    assert.equal(readTable(text, info).lines.length, 2);
  }
  // Names say it; of rows they are none.
  const named = 'temp,humidity,room\n3,4,5\n';
  assert.deepEqual([...readTable(named, info, { header: true }).rows], [3, 4]);
  const lacking = { message: 'the table lacks column `temp`; it has: Temp, Humidity' };
  assert.throws(() => readTable('Temp,Humidity\n3,4\n', info, { header: true }), lacking);
  assert.throws(() => readTable(named, info, { header: false }), /temp/);
  // A category that is a number would be told as one that the column does not list.
  const texts = { notes: JSON.stringify({ columns: ['a', 'b', { name: 'c', values: ['2', 'x'] }] }), inputs: 4 };
  assert.deepEqual([...readTable('0,1,2\n3,4,x\n', texts).rows], [0, 1, 1, 0, 3, 4, 0, 1]);
});

test('marks within names, empty fields in quotes between spaces and numbers that are none', () => {
  const notes = JSON.stringify({ columns: ['temp,C', 'hum,%', { name: 'kind', values: ['fan'] }, { target: 'y' }] });
  const info = { notes, inputs: 3 };
  for (const mark of [';', '\t']) {
    const text = ['temp,C', 'hum,%', 'kind', 'y'].join(mark) + '\n' + ['0.5', '2', 'fan', 'bad'].join(mark);
    assert.deepEqual([...readTable(text, info).rows], [0.5, 2, 1]);
  }
  const spaces = JSON.stringify({ columns: [{ name: 'a', missing: 7 }, { name: 'kind', values: ['fan'] }, { target: 'y' }] });
  const table = readTable('"a" "kind" "y"\n0.5 ""  "x\ny"\n -nan fan "" \n', { notes: spaces, inputs: 2 }, zeros);
  assert.deepEqual([[...table.rows], table.targets, table.lines], [[0.5, 0, 7, 1], ['x\ny', ''], [2, 4]]);
});

// As in `host/data/src/tests/columns.rs`.
test('columns without a name are told by their order', () => {
  for (const [header, end] of [[',b,c,', ''], [',b,,y', ''], ['a,,,y', ''], ['a,b,,', ''], [',b,,y,,', ',,']]) {
    const [a, b, c, y] = header.split(',');
    const of = { notes: JSON.stringify({ columns: [a, b, c, { target: y }] }), inputs: 3 };
    const table = readTable(`${header}\n7,8,9,1${end}\n`, of);
    assert.deepEqual([[...table.rows], table.targets], [[7, 8, 9], ['1']], header);
    const without = [a, b, c].join(',');
    assert.deepEqual([...readTable(`${without}\n7,8,9\n`, of).rows], [7, 8, 9], without);
  }
  const of = { notes: JSON.stringify({ columns: ['', 'b', '', { target: 'y' }] }), inputs: 3 };
  assert.deepEqual([...readTable(',b,y,\n7,8,1,9\n', of).rows], [7, 8, 9]);
  const lacks = (header) => ({ message: `the table lacks a column without a name; it has: ${header.split(',').join(', ')}` });
  for (const header of [',b,x,y', ',,,b,y']) {
    assert.throws(() => readTable(`${header}\n${header.replace(/[^,]*/g, '1')}\n`, of, { header: true }), lacks(header));
  }
});

test('lines that end in carriage returns alone are told', () => {
  const of = { notes: JSON.stringify({ columns: ['a', 'b', { target: 'y' }] }), inputs: 2 };
  const told = { message: 'its lines end in carriage returns alone, not in line feeds' };
  for (const text of ['a,b,y\r1,2,u\r3,4,v\r', 'sep=,\na,b,y\r1,2,u\r3,4,v\n']) {
    assert.throws(() => readTable(text, of), told);
  }
  assert.deepEqual([...readTable('a,b,y\r\n1,2,u\r\n', of).rows], [1, 2]);
  assert.deepEqual([...readTable('1,2,u\r', of).rows], [1, 2]);
});

test('an empty table says so, with progress or without', () => {
  const progress = (share) => assert.ok(share >= 0 && share <= 1, `${share}`);
  for (const text of ['', '\n', '\ufeff', ' \n\t\n']) {
    assert.throws(() => readTable(text, { notes: '', inputs: 2 }, { progress }), { message: 'the table is empty' });
  }
});

test('what stands between fields is told from the first lines, as the command does', () => {
  const notes = JSON.stringify({ columns: ['a', 'b', { name: 'c', values: ['x', 'y z'] }, { target: 't' }] });
  const read = (text) => readTable(text, { notes, inputs: 4 });
  const expected = [1.5, -2, 0, 1, 0.25, 3, 1, 0];
  for (const text of [
    'a,b,c,t\n1.5,-2,y z,on\n.25,3,x,off\n',
    '\ufeff\r\na;b;c;t\r\n1,5;-2;y z;on\r\n\r\n0,25;3;x;off',
    '1,5;-2;y z;on\n,25;3;x;off\n',
    'a\tb\tc\tt\n1.5\t-2\ty z\ton\n0.25\t3\tx\toff',
    '  a  b c   t\n1.5 -2   "y z"  on\n 0.25 3 x off \n',
    't , "b" ,c,a\non,"-2", "y z" ,1.5\n"o""ff",3,x,25e-2\n',
    'a|b|c|t\n1.5|-2|y z|on\n 0.25 | 3 | x | off\n',
    'a|b|"c"|t\n1.5|-2|"y z"|"o|n"\n.25|3|x|off',
    'sep=;\na;b;c;t\n1,5;-2;y z;on\n0,25;3;x;off\n',
    '\ufeffSEP=,,,,\r\na,b,c,t\r\n1.5,-2,y z,on\r\n0.25,3,x,off',
    'sep=:\na:b:c:t\n1.5:-2:y z:on\n0.25:3:x:off\n',
    'sep=|\n1.5|-2|y z|on\n0.25|3|x|off\n',
  ]) {
    assert.deepEqual([...read(text).rows], expected, text);
  }
  assert.deepEqual([...readTable('a,b\n1 2\n3  4\n', { notes: '{"columns":["a","b"]}', inputs: 2 }).rows], [1, 2, 3, 4]);
  // Lines are counted with the one that names the delimiter.
  assert.deepEqual(readTable('sep=\t\na\tb\n1\t2\n', { notes: '{"columns":["a","b"]}', inputs: 2 }).lines, [3]);
  // A text that has a bar.
  assert.deepEqual([...readTable('x|y\nz\n', { notes: '{"columns":[{"values":["x|y","z"]}]}', inputs: 2 }).rows], [1, 0, 0, 1]);
  const throws = (text, message) => assert.throws(() => read(text), { message });
  throws('|a|b|\n|1.5|-2|\n', 'its lines begin and end with `|`, as tables of Markdown do: leave these bars out, and the line of dashes');
  throws('sep=x\n1,2,x,on\n', 'the table has 1 columns, the model needs 3 columns (4 with the target)');
  throws('a;b;c;t\n1,5;2;x;on\n1.5;2;x;on\n', 'line 3, column 1: numbers with a decimal comma and, in line 2, with a decimal point');
  const thousands = (line, column, comma) =>
    `line ${line}: 1.200 in column ${column} may be 1200, since column ${comma} has decimal commas: write numbers without points between thousands`;
  throws('a;b;c;t\n1,5;1.200;x;on\n', thousands(2, 2, 1));
  throws('a;b;c;t\n1.200;2;x;on\n1;2;x;on\n1;,5;x;on\n', thousands(2, 1, 2));
  throws('a;b;c;t\n1,5;-1.200.000;x;on\n', thousands(2, 2, 1).replace('1.200', '-1.200.000').replace('1200', '-1200000'));
  assert.deepEqual([...read('a;b;c;t\n1,5;0.200;x;on\n2;1.20;x;on\n').rows], [1.5, Math.fround(0.2), 1, 0, 2, Math.fround(1.2), 1, 0]);
  assert.deepEqual([...read('a;b;c;t\n1;1.200;x;on\n').rows], [1, Math.fround(1.2), 1, 0]);
  throws('a,b,c,t\n1,2,"x,on\n', 'line 2: a quote is opened and not closed');
  throws('a,b,c,t\n1,2,"x" y,on\n', 'line 2: text after the quote that ends a field');
  throws('a,b,c,t\n1,2,"x\n"" y" z,on\n', 'line 3: text after the quote that ends a field');
  throws('a,b,c,t\n1,2,""x,on\n', 'line 2: text after the quote that ends a field');
  throws('a,b,c,t\n1,2,"x"",on\n', 'line 2: a quote is opened and not closed');
  throws('a,b,c,t\n1,2,x,"on\n3,4,y,on"\n', 'line 2: quotes hold what look like rows, up to line 3');
});

test('a model of raw columns predicts as the command does', async () => {
  const folder = mkdtempSync(file(tmpdir(), 'koan-columns-'));
  try {
    const koan = (...args) => execFileSync(process.env.KOAN, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    const people = Array.from({ length: 400 }, (_, i) => {
      const [age, hours] = [18 + ((i * 7919) % 60), (i * 104729) % 61];
      const work = ['Private', 'State-gov', 'Never worked'][(i * 31) % 3];
      const weight = i % 11 ? String(((i * 613) % 97) / 2) : '?';
      const earns = age + hours > 70 && work !== 'Never worked' ? 'much' : 'little';
      return { age, work, weight, hours, earns };
    });
    const text = (rows) => [Object.keys(rows[0]), ...rows.map(Object.values)].map((row) => `${row.join(',')}\n`).join('');
    writeFileSync(file(folder, 'people.csv'), text(people));
    koan('train', 'people.csv', '-o', 'people.koan', '-k', '64', '--missing', 'impute');
    const expected = koan('predict', 'people.koan', 'people.csv').trim().split('\n');
    await init();
    const blob = readFileSync(file(folder, 'people.koan'));
    const model = Model.from(blob, { columns: Columns });
    assert.equal(model.info.inputs, 6);
    const labels = people.map((row) => model.predictLabel(row));
    assert.deepEqual(labels, expected.slice(-people.length));
    assert.deepEqual(model.predictLabelMany(people), labels);
    assert.deepEqual(model.predictLabelMany(people.map(Object.values)), labels);
    const table = readTable(text(people), model.info);
    assert.deepEqual(model.predictLabelMany(table.rows), labels);
    // What training did not have, as the command takes it, or not at all.
    const strangers = people.slice(0, 9).map((row) => ({ ...row, work: 'Retired' }));
    writeFileSync(file(folder, 'strangers.csv'), text(strangers));
    const lenient = Model.from(blob, { columns: Columns, unknown: 'zeros' });
    const told = koan('predict', 'people.koan', 'strangers.csv').trim().split('\n').slice(-9);
    assert.deepEqual(lenient.predictLabelMany(strangers), told);
    assert.deepEqual(lenient.predictLabelMany(readTable(text(strangers), model.info, zeros).rows), told);
    const none = 'column work: `Retired` is none of the 3 values: Never worked, Private, State-gov';
    assert.throws(() => model.predictLabel(strangers[0]), { message: none });
    assert.throws(() => model.predictLabelMany([people[0], ...strangers]), { message: `row 1: ${none}` });
    assert.throws(() => Model.from(blob, zeros), { name: 'TypeError', message: 'there is no option unknown' });
    // Other marks between the fields, and headers that the command refuses.
    const cells = [Object.keys(people[0]), ...people.map(Object.values)].map((row) => row.map(String));
    const commas = (field) => (/^\d+\.\d+$/.test(field) ? field.replace('.', ',') : field);
    const quoted = (field) => (field.includes(' ') ? `"${field}"` : field);
    const tables = {
      semicolons: cells.map((row) => row.map(commas).join(';')),
      bare: cells.slice(1).map((row) => row.map(commas).join(';')),
      'without target': cells.slice(1).map((row) => row.slice(0, -1).join('\t')),
      bars: cells.map((row) => row.join('|')),
      'a line that names the delimiter': [`sep=:`, ...cells.map((row) => row.join(':'))],
      spaces: cells.map((row) => row.map(quoted).join('   ')),
      'spaces under commas': cells.map((row, line) => row.map(quoted).join(line ? ' ' : ',')),
      quotes: cells.map((row) => row.map((field) => ` "${field}" `).join(',')),
      capitals: cells.map((row, line) => (line ? row : row.map((name) => name.toUpperCase())).join(',')),
      thousands: cells.map((row, line) => row.map(commas).with(0, line ? `1.0${row[0]}` : row[0]).join(';')),
      'one name': cells.map((row, line) => (line ? row : ['years', ...row.slice(1)]).join(',')),
      'another column': cells.map((row, line) => [...row, line ? '1' : 'more'].join(',')),
      'another column without a header': cells.slice(1).map((row) => [...row, '1'].join(',')),
    };
    const refused = [];
    for (const [name, lines] of Object.entries(tables)) {
      const text = `${lines.join('\n')}\n`;
      writeFileSync(file(folder, 'other.csv'), text);
      let own;
      try {
        own = koan('predict', 'people.koan', 'other.csv').trim().split('\n').slice(-people.length);
      } catch {
        refused.push(name);
        assert.throws(() => readTable(text, model.info), { message: /lacks column `age`|columns, the model needs|write numbers without points/ }, name);
        continue;
      }
      assert.deepEqual(own, labels, name);
      assert.deepEqual(model.predictLabelMany(readTable(text, model.info).rows), labels, name);
    }
    assert.deepEqual(refused, ['capitals', 'thousands', 'one name', 'another column without a header']);
    assert.deepEqual(table.targets, people.map(({ earns }) => earns));
    const right = labels.filter((label, i) => label === people[i].earns).length;
    assert.ok(right > 0.9 * people.length, `${right} of ${people.length}`);
    assert.throws(() => model.classifyMany([people[0], { age: 3 }]), /^Error: row 1: the row lacks/);
    assert.throws(() => model.classifyMany(people[0]), { message: 'several rows are an array' });
    assert.throws(() => model.classifyMany([null]), { message: 'row 0: a row is an object or an array, not null' });
    const numeric = readFileSync(file(root, 'tests/golden/digits.koan'));
    assert.equal(Model.from(numeric, { columns: Columns }).classify(Array(64).fill(0)), Model.from(numeric).classify(Array(64).fill(0)));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('categories that are numbers are found as the command finds them, however they are written', async () => {
  const folder = mkdtempSync(file(tmpdir(), 'koan-levels-'));
  try {
    const koan = (...args) => execFileSync(process.env.KOAN, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    await init();
    const known = ['0.1', '0.2', '0.3', '0.0000005', '7', '16777217', '25000000000000000000000'];
    const levels = [0.1 + 0.2, Math.fround(0.1), Math.fround(0.2), 5e-7, Math.fround(5e-7), 2.5e22, 7.0000001, 0.4, 16777217, 16777216];
    const texts = ['0.0000005', '5E-7', '50e-8', '.1', '0.10000000149011612', '00.1', '+0.2', '16777217.0', '7.00', '-0.1', '2.5e22', '0.3000000000000000000'];
    // Notes that are long have codes.
    for (const more of [[], Array.from({ length: 90 }, (_, i) => String(100.5 + i))]) {
      const values = [...known, ...more];
      const lines = Array.from({ length: 8 * values.length }, (_, i) => `${(i * 37) % 11},${values[i % values.length]},${(i % values.length) + (i % 3)}`);
      writeFileSync(file(folder, 'train.csv'), `a,level,y\n${lines.join('\n')}\n`);
      koan('train', 'train.csv', '-o', 'model.koan', '-k', '32', '--task', 'regression', '--text', 'level');
      const fields = [...levels, ...texts];
      const text = `a,level\n${fields.map((level) => `3,${level}`).join('\n')}\n`;
      writeFileSync(file(folder, 'rows.csv'), text);
      const expected = koan('predict', 'model.koan', 'rows.csv', '--scores').trim().split('\n').slice(1);
      const scores = expected.map((line) => Number(line.split(',').at(-1)));
      const model = Model.from(readFileSync(file(folder, 'model.koan')), { columns: Columns, ...zeros });
      assert.equal(model.info.notes.includes('0.0000005'), more.length === 0);
      assert.deepEqual([...model.scoresMany(readTable(text, model.info, zeros).rows)], scores);
      assert.deepEqual(fields.map((level) => model.scores({ a: 3, level })[0]), scores);
      assert.ok(new Set(scores).size > 4, `${scores}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('truth values are read as the command reads them, by their words and by codes', async () => {
  const folder = mkdtempSync(file(tmpdir(), 'koan-truth-'));
  try {
    const koan = (...args) => execFileSync(process.env.KOAN, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    await init();
    const written = ['False', 'false', 'FALSE', '0', 'True', 'true', 'TRUE', '1', 'tRUE', '1.0', 'yes'];
    // Notes that are long have codes.
    for (const towns of [['Bonn', 'Graz'], Array.from({ length: 120 }, (_, i) => `town number ${i}`)]) {
      for (const words of [['False', 'True'], ['true', 'never'], ['FALSE', 'TRUE']]) {
        const line = (i) => `${words[+(i % 3 > 1)]},${towns[i % towns.length]},${(i * 37) % 11}`;
        const lines = Array.from({ length: 720 }, (_, i) => `${line(i)},${3 * (i % 3) + (i % 11)}`);
        writeFileSync(file(folder, 'train.csv'), `on,town,heat,y\n${lines.join('\n')}\n`);
        koan('train', 'train.csv', '-o', 'model.koan', '-k', '32', '--task', 'regression');
        const text = `on,town,heat\n${written.map((on) => `${on},${towns[1]},3`).join('\n')}\n`;
        writeFileSync(file(folder, 'rows.csv'), text);
        const expected = koan('predict', 'model.koan', 'rows.csv', '--scores').trim().split('\n').slice(1);
        const scores = expected.map((line) => Number(line.split(',').at(-1)));
        const model = Model.from(readFileSync(file(folder, 'model.koan')), { columns: Columns, ...zeros });
        assert.equal(model.info.notes.includes(words[0]), towns.length === 2);
        assert.deepEqual([...model.scoresMany(readTable(text, model.info, zeros).rows)], scores);
        const of = (on) => model.scores({ on, town: towns[1], heat: 3 })[0];
        assert.deepEqual(written.map(of), scores);
        assert.deepEqual([of(0), of(1)], [scores[3], scores[7]]);
        assert.deepEqual([of(false), of(true)], [scores[1], scores[5]]);
        // Otherwise nothing was told apart.
        assert.ok(new Set(scores).size > 1, words);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
