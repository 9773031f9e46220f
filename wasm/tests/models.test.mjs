// Models that somebody brings to the demo page: in a link, in a QR code, for windows over raw
// samples, with a long table. They are trained by the command.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import jsqr from 'jsqr';
import { launch, until } from './chromium.mjs';
import { accessible, command, draw, give, open, recognised, start, stop, shots } from './page.mjs';
import { file, pageFolder, root } from './paths.mjs';
import { STROKES } from './strokes.mjs';

let folder;

/** Runs the command in the temporary folder. */
const koan = (...words) =>
  execFileSync(command, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Two numbers and a text, from which a class follows. */
const SENSORS = Array.from({ length: 400 }, (_, i) => {
  const [a, b] = [0.618, 0.755].map((step) => ((i + 1) * step) % 1);
  const kind = ['red', 'green'][i % 2];
  return `${a.toFixed(3)},${b.toFixed(3)},${kind},${a + b + (i % 2) > 1.4 ? 'high' : 'low'}`;
});

/** Samples of three channels: fast waves, then slow ones. */
const WAVES = Array.from({ length: 1600 }, (_, i) => {
  const fast = Math.floor(i / 100) % 2 === 1;
  const values = [0, 1, 2].map((shift) => Math.sin(i * (fast ? 0.9 : 0.3) + shift).toFixed(3));
  return `${values},${fast ? 'fast' : 'slow'}`;
});

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'koan-page-'));
  writeFileSync(join(folder, 'sensors.csv'), `a,b,kind,level\n${SENSORS.join('\n')}\n`);
  writeFileSync(join(folder, 'waves.csv'), `x,y,z,speed\n${WAVES.join('\n')}\n`);
  koan('train', 'sensors.csv', '-o', 'sensors.koan', '-k', '64');
  // The number of what the class is made of.
  const sums = SENSORS.map((line) => line.split(',')).map(([a, b, kind]) => `${a},${b},${kind},${+a + +b}`);
  writeFileSync(join(folder, 'sums.csv'), `a,b,kind,sum\n${sums.join('\n')}\n`);
  koan('train', 'sums.csv', '-o', 'sums.koan', '-k', '64');
  koan('train', 'waves.csv', '-o', 'waves.koan', '-k', '64', '--window', '20');
  await start();
});
after(async () => {
  await stop();
  if (folder) rmSync(folder, { recursive: true });
});

const modelOf = (name) => readFileSync(join(folder, name));
const text = (page, selector) => page.textContent(selector);
const predictions = (page) => page.locator('#results tbody tr td:nth-child(2)').allTextContents();

/** Brings a model, and gives the link that the page makes of it. */
async function linkTo(blob) {
  const { context, page, list } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.setInputFiles('#model-file', { name: 'mine.koan', mimeType: '', buffer: blob });
  await until(page, () => document.querySelector('#model-note').textContent.startsWith('mine.koan'));
  await page.click('#copy-link');
  await until(page, () => document.querySelector('#link-copied').textContent === 'Copied.');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const said = await text(page, '#link-length');
  assert.equal(said, `${link.length.toLocaleString('en')} characters, the model included`);
  assert.deepEqual(list, []);
  await context.close();
  return link;
}

test('a link carries a model for tables to another browser', async () => {
  const link = await linkTo(modelOf('sensors.koan'));
  assert.ok(link.endsWith(`#model=${modelOf('sensors.koan').toString('base64url')}`));
  const { context, page, list } = await open({ bypassCSP: true }, new URL(link).hash);
  await until(page, () => document.querySelector('#link-note').textContent.includes('The link carries a model'));
  const note = await text(page, '#model-note');
  assert.match(note, /^the model of the link: \d+ bytes, classification of the classes high, low\. A row of the table has 3 columns \(a, b, kind\)\.$/);
  writeFileSync(join(folder, 'rows.csv'), `a,b,kind\n${SENSORS.slice(0, 50).map((line) => line.replace(/,\w+$/, '')).join('\n')}\n`);
  const expected = koan('predict', 'sensors.koan', 'rows.csv').trim().split('\n').slice(1);
  await page.fill('#typed', readFileSync(join(folder, 'rows.csv'), 'utf8'));
  await page.click('#typed-run');
  await page.waitForSelector('#results:not([hidden])');
  assert.deepEqual(await predictions(page), expected);
  // The pad still has the page's own model.
  await draw(page, STROKES[7]);
  await recognised(page, '7');
  await page.screenshot({ path: file(shots, 'link.png'), fullPage: true });
  assert.deepEqual(await accessible(page), []);
  assert.deepEqual(list, []);
  await context.close();
});

test('a link carries a recogniser of digits to another browser', async () => {
  const blob = readFileSync(file(root, 'firmware-example/digits.koan'));
  const { context, page, list } = await open({}, new URL(await linkTo(blob)).hash);
  await until(page, () => document.querySelector('#link-note').textContent.includes('it recognises what you draw'));
  const bytes = `${blob.length.toLocaleString('en')} bytes`;
  await until(page, (bytes) => document.querySelector('#bytes').textContent === bytes, bytes);
  assert.equal(await text(page, '#proof-title'), `The model of the link is ${bytes}`);
  // The test error is that of the page's own model only.
  assert.deepEqual([await page.isVisible('#own'), await page.isVisible('#other')], [false, true]);
  await draw(page, STROKES[0]);
  await recognised(page, '0');
  assert.deepEqual(list, []);
  await context.close();
});

test('links with damaged, cut-off and too long models say so, and change nothing', async () => {
  const good = modelOf('sensors.koan');
  const damaged = Buffer.from(good);
  damaged[40] ^= 1;
  const cases = [
    [`#model=${damaged.toString('base64url')}`, 'checksum mismatch: the blob is damaged'],
    [`#model=${good.toString('base64url').slice(0, -9)}`, 'checksum mismatch: the blob is damaged'],
    ['#model=S09BT', 'it is damaged or cut off'],
    ['#model=S09BTg', 'the blob ends before field'],
    ['#model=bm9uZQ', 'not a koan blob'],
    ['#model=S09B%20TQ', 'character 5 of it, `%`, belongs to no model'],
    ['#model=', 'it is empty'],
    ['#decimal=9999', 'it is damaged or cut off'],
    ['#decimal=99999', 'it is damaged or cut off'],
    ['#decimal=12a', 'character 3 of it, `a`, belongs to no model'],
    [`#model=${'A'.repeat(90_000)}`, 'it has 90,000 characters, the page takes 87,382 at most'],
  ];
  const { context, page, list } = await open();
  const own = await text(page, '#proof-title');
  for (const [fragment, message] of cases) {
    await page.evaluate((fragment) => { location.hash = fragment; }, fragment);
    await until(page, (message) => document.querySelector('#link-note').textContent.includes(message), message);
    assert.match(await text(page, '#link-note'), /^The link's model cannot be used: .*\. This page runs the model it had\.$/);
  }
  assert.equal(await text(page, '#proof-title'), own);
  assert.equal(await text(page, '#model-note'), '');
  await draw(page, STROKES[0]);
  await recognised(page, '0');
  // Whatever else a fragment is about is not the page's business.
  await page.evaluate(() => { location.hash = '#table-title'; });
  await until(page, () => document.querySelector('#link-note').textContent === '');
  assert.deepEqual(list, []);
  await context.close();
});

/** The text of the page's QR code, read by another library than the one that made it. */
async function scanned(page) {
  await page.click('#qr-open');
  await until(page, () => document.querySelector('#qr-note').textContent !== '');
  const { dark, width, height } = await page.evaluate(() => {
    const canvas = document.querySelector('#qr');
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    // One channel of four: it is black and white.
    return { width, height, dark: Array.from({ length: width * height }, (_, i) => (data[4 * i] ? ' ' : '#')).join('') };
  });
  const pixels = new Uint8ClampedArray(4 * dark.length).fill(255);
  for (let i = 0; i < dark.length; i++) if (dark[i] === '#') pixels.fill(0, 4 * i, 4 * i + 3);
  return jsqr(pixels, width, height)?.data;
}

test('the QR code holds the page’s own model', async () => {
  const { context, page, list } = await open();
  const link = await scanned(page);
  assert.match(link ?? '', /#decimal=\d+$/);
  const second = await open({}, new URL(link).hash);
  await until(second.page, () => document.querySelector('#link-note').textContent.includes('it recognises what you draw'));
  const [download] = await Promise.all([second.page.waitForEvent('download'), second.page.click('#download')]);
  assert.deepEqual(readFileSync(await download.path()), readFileSync(file(root, 'wasm/page/digits.koan')));
  await draw(second.page, STROKES[4]);
  await recognised(second.page, '4');
  assert.deepEqual([...list, ...second.list], []);
  await second.context.close();
  await context.close();
});

test('a model that no QR code can hold says so', async () => {
  const { context, page, list } = await open();
  koan('train', 'sensors.csv', '-o', 'large.koan', '-k', '4096', '--bits', '8');
  await page.setInputFiles('#model-file', join(folder, 'large.koan'));
  await until(page, () => document.querySelector('#model-note').textContent.startsWith('large.koan'));
  await page.click('#qr-open');
  await until(page, () => document.querySelector('#qr-note').textContent.includes('do not fit a QR code'));
  assert.equal(await page.isVisible('#qr'), false);
  assert.deepEqual(list, []);
  await context.close();
});

test('a model of windows says what it takes, and makes windows of samples', async () => {
  const { context, page, list } = await open();
  await page.setInputFiles('#model-file', join(folder, 'waves.koan'));
  await until(page, () => document.querySelector('#model-note').textContent.startsWith('waves.koan'));
  assert.match(await text(page, '#model-note'), /It takes windows of 20 samples of 3 channels \(x, y, z\), one every 20\./);
  await page.setInputFiles('#table-file', join(folder, 'waves.csv'));
  await page.waitForSelector('#results:not([hidden])');
  const expected = koan('predict', 'waves.koan', 'waves.csv').trim().split('\n').slice(1).map((line) => line.split(',')[1]);
  assert.deepEqual(await predictions(page), expected);
  assert.match(await text(page, '#summary'), /^waves\.csv: 80 rows \(windows of 20 samples\), .* % right/);
  await give(page, '#table-file', 'short.csv', 'x,y,z\n1,2,3\n', 'the table has 1 samples, a window of the model takes 20');
  assert.deepEqual(list, []);
  await context.close();
});

test('a long table shows its progress, and the pad answers meanwhile', async () => {
  const { context, page, list } = await open();
  await page.setInputFiles('#model-file', join(folder, 'sensors.koan'));
  await until(page, () => document.querySelector('#model-note').textContent.startsWith('sensors.koan'));
  await page.evaluate(() => {
    window.seen = [];
    const box = document.querySelector('#progress');
    new MutationObserver(() => window.seen.push(box.textContent.trim())).observe(box, {
      childList: true, subtree: true, characterData: true, attributes: true,
    });
  });
  const rows = Array.from({ length: 200_000 }, (_, i) => SENSORS[i % SENSORS.length]);
  const table = { name: 'long.csv', mimeType: 'text/csv', buffer: Buffer.from(`a,b,kind,level\n${rows.join('\n')}\n`) };
  await page.setInputFiles('#table-file', table);
  await draw(page, STROKES[1]);
  await recognised(page, '1');
  await page.waitForSelector('#results:not([hidden])');
  assert.match(await text(page, '#summary'), /^long\.csv: 200000 rows, .*; the first 500 are shown\.$/);
  const seen = await page.evaluate(() => window.seen);
  for (const doing of ['Reading the table', 'Predicting']) {
    assert.ok(seen.filter((text) => text.startsWith(doing)).length > 3, `${doing}: ${seen}`);
  }
  assert.equal(await page.isVisible('#progress'), false);
  assert.deepEqual(list, []);
  await context.close();
});

/** Gives the page a table, and waits for its predictions; what is said of them. */
async function predicted(page, name, content) {
  await page.evaluate(() => { document.querySelector('#results').hidden = true; });
  await page.setInputFiles('#table-file', { name, mimeType: '', buffer: Buffer.from(content) });
  await page.waitForSelector('#results:not([hidden])');
  return text(page, '#summary');
}

test('rows without a target are predicted and not counted', async () => {
  const { context, page, list } = await open();
  const rows = SENSORS.map((line, i) => line.replace(/[^,]*$/, (target) => ['', '?', 'NA'][i % 40] ?? target));
  await page.setInputFiles('#model-file', join(folder, 'sensors.koan'));
  const said = await predicted(page, 'some.csv', `a,b,kind,level\n${rows.join('\n')}\n`);
  const [, right, of] = /^some\.csv: 400 rows, [\d.]+ % right \((\d+) of (\d+)\); 30 without a target are not counted; /.exec(said) ?? [];
  assert.ok(Number(right) > 330 && of === '370', said);
  assert.equal(await page.locator('#results tbody tr').count(), 400);
  assert.equal(await page.locator('#results tbody tr.wrong').count(), 370 - right);
  await page.setInputFiles('#model-file', join(folder, 'sums.koan'));
  // It predicts the table that is there, which has no sums.
  await until(page, () => document.querySelector('#summary').textContent.startsWith('some.csv: 400 rows; '));
  const numbers = rows.map((line) => line.replace(/[^,]*$/, (target) => target && (target.length > 2 ? '1.2' : target)));
  const sums = await predicted(page, 'sums.csv', `a,b,kind,sum\n${numbers.join('\n')}\n`);
  assert.match(sums, /^sums\.csv: 400 rows, root of the mean squared error [\d.]+; 30 without a target are not counted; /);
  const words = await predicted(page, 'words.csv', `a,b,kind,sum\n${SENSORS.join('\n')}\n`);
  assert.match(words, /^words\.csv: 400 rows; 400 whose target is no number are not counted; /);
  assert.deepEqual(list, []);
  await context.close();
});

test('large numbers have the digits that the command prints, and the error that it finds', async () => {
  const { context, page, list } = await open();
  const lines = SENSORS.map((line) => line.split(',')).map(([a, b, kind]) => `${a},${b},${kind},${(1013250 + +a - +b).toFixed(3)}`);
  const table = `a,b,kind,pressure\n${lines.join('\n')}\n`;
  writeFileSync(join(folder, 'pressure.csv'), table);
  koan('train', 'pressure.csv', '-o', 'pressure.koan', '-k', '64');
  await page.setInputFiles('#model-file', join(folder, 'pressure.koan'));
  const said = await predicted(page, 'pressure.csv', table);
  const expected = koan('predict', 'pressure.koan', 'pressure.csv').trim().split('\n').slice(1);
  assert.deepEqual((await predictions(page)).map(Number), expected.map(Number));
  const off = expected.map((value, row) => Math.fround(value) - lines[row].split(',')[3]);
  const error = Math.sqrt(off.reduce((sum, by) => sum + by * by, 0) / off.length);
  assert.ok(error < 1 && said.includes(`root of the mean squared error ${error.toPrecision(4)};`), `${error}: ${said}`);
  assert.deepEqual(list, []);
  await context.close();
});

test('one class against all others is judged by its two classes, as the command does', async () => {
  const judged = async (model, name) => {
    const { context, page, list } = await open();
    await page.setInputFiles('#model-file', join(folder, model));
    const right = Number(/, ([\d.]+) % right/.exec(await predicted(page, name, modelOf(name)))?.[1]);
    const wrong = await page.locator('#results tbody tr.wrong').count();
    const rows = await page.locator('#results tbody tr').count();
    assert.equal(wrong, Math.round((1 - right / 100) * rows));
    assert.deepEqual(list, []);
    await context.close();
    return right;
  };
  // `koan eval` says how many are misclassified.
  const evaluated = (model, name) => /([\d.]+) % misclassified/.exec(koan('eval', model, name))?.[1];
  for (const names of [['low', 'middle', 'high'], ['1', '2', '3.0']]) {
    const lines = SENSORS.map((line) => line.split(',')).map(([a, b]) => `${a},${b},${names[Math.min(Math.floor(+a + +b + 0.5), 2)]}`);
    writeFileSync(join(folder, 'levels.csv'), `a,b,level\n${lines.join('\n')}\n`);
    koan('train', 'levels.csv', '-o', 'levels.koan', '-k', '64', '--positive', names[2]);
    const right = await judged('levels.koan', 'levels.csv');
    assert.ok(right > 90, `${right} % right`);
    assert.equal((100 - right).toFixed(2), evaluated('levels.koan', 'levels.csv'));
  }
  // What is normal is a class, too.
  const states = SENSORS.map((line, i) => (i % 10 ? `${line.split(',').slice(0, 2)},in` : `${5 + (i % 7)},-4,out`));
  writeFileSync(join(folder, 'states.csv'), `a,b,state\n${states.join('\n')}\n`);
  koan('train', 'states.csv', '-o', 'states.koan', '-k', '64', '--task', 'anomaly', '--normal', 'in', '--false-alarm', '0.05');
  assert.equal((100 - (await judged('states.koan', 'states.csv'))).toFixed(2), evaluated('states.koan', 'states.csv'));
  // Windows have the target of most of their samples, less than half of them here.
  const speeds = WAVES.map((line, i) => line.replace('slow', ['slow', 'still', 'off', 'slow', 'still', 'off', 'slow'][i % 7]));
  writeFileSync(join(folder, 'speeds.csv'), `x,y,z,speed\n${speeds.join('\n')}\n`);
  koan('train', 'speeds.csv', '-o', 'speeds.koan', '-k', '64', '--window', '20', '--positive', 'slow');
  assert.equal((100 - (await judged('speeds.koan', 'speeds.csv'))).toFixed(2), evaluated('speeds.koan', 'speeds.csv'));
});

test('of an embedding all values are shown, and none is judged', async () => {
  const { context, page, list } = await open();
  koan('train', 'sums.csv', '-o', 'three.koan', '-k', '64', '--task', 'embedding', '--outputs', '3');
  await page.setInputFiles('#model-file', join(folder, 'three.koan'));
  await until(page, () => document.querySelector('#code').textContent.endsWith('const values = model.values(row);'));
  const said = await predicted(page, 'sums.csv', modelOf('sums.csv'));
  assert.match(said, /^sums\.csv: 400 rows; \d/);
  const numbers = (line) => line.split(',').map(Number);
  const expected = koan('predict', 'three.koan', 'sums.csv').trim().split('\n').slice(1);
  assert.deepEqual((await predictions(page)).map(numbers), expected.map(numbers));
  assert.deepEqual(list, []);
  await context.close();
});

test('tables with semicolons, spaces and gzip are predicted as the command does', async () => {
  const { context, page, list } = await open();
  await page.setInputFiles('#model-file', join(folder, 'sensors.koan'));
  const plain = `a,b,kind,level\n${SENSORS.join('\n')}\n`;
  const expected = koan('predict', 'sensors.koan', 'sensors.csv').trim().split('\n').slice(1);
  for (const [name, content] of [
    ['semicolons.csv', plain.replaceAll(',', ';').replaceAll('.', ',')],
    ['spaces.txt', plain.replaceAll(',', '   ')],
    ['sensors.csv.gz', gzipSync(plain)],
  ]) {
    assert.match(await predicted(page, name, content), /^\w+\.[\w.]+: 400 rows, .* \(\d+ of 400\)/);
    assert.deepEqual(await predictions(page), expected, name);
  }
  await give(page, '#table-file', 'cut.csv.gz', gzipSync(plain).subarray(0, 500), 'cut.csv.gz: gzip of a damaged file');
  // By other names nothing is predicted by position.
  await give(page, '#table-file', 'other.csv', plain.toUpperCase(), 'the table lacks column `a`; it has: A, B, KIND, LEVEL');
  await page.click('#typed-run');
  await until(page, () => document.querySelector('#problem').textContent.startsWith('the typed rows: the table is empty'));
  assert.deepEqual(list, []);
  await context.close();
});

test('what was said of one model does not stand under the next', async () => {
  const { context, page, list } = await open();
  await page.setInputFiles('#model-file', join(folder, 'sensors.koan'));
  await predicted(page, 'sensors.csv', `a,b,kind,level\n${SENSORS.join('\n')}\n`);
  await page.setInputFiles('#model-file', file(root, 'tests/golden/digits.koan'));
  await until(page, () => document.querySelector('#problem').textContent.includes('columns'));
  assert.deepEqual([await text(page, '#summary'), await page.isVisible('#results')], ['', false]);
  assert.deepEqual(list, []);
  await context.close();
});

test('a model for tables has its own title and code, and the pad keeps its model', async () => {
  const { context, page, list } = await open();
  await page.setInputFiles('#model-file', join(folder, 'sensors.koan'));
  await until(page, () => document.querySelector('#proof-title').textContent.startsWith('sensors.koan is '));
  assert.match(await text(page, '#other-note'), /the pad above runs the one that it had/);
  const code = await text(page, '#code');
  assert.match(code, /'koan-wasm\/columns'.*new URL\('.\/sensors\.koan'.*\{ a: 1, b: 1, kind: "green" \}.*predictLabel\(row\)/s);
  await page.setInputFiles('#model-file', join(folder, 'waves.koan'));
  await until(page, () => document.querySelector('#code').textContent.includes('new Float32Array(60)'));
  assert.deepEqual(list, []);
  await context.close();
});

test('the page as a file says that it needs a server; from one it says nothing', async () => {
  const browser = await launch();
  const page = await browser.newPage();
  await page.goto(pathToFileURL(join(pageFolder, 'index.html')).href);
  await page.waitForSelector('#dead', { timeout: 10_000 });
  await until(page, () => document.querySelector('#dead').getBoundingClientRect().height > 10);
  await browser.close();
  const { context, page: served } = await open();
  assert.equal(await served.locator('#dead').count(), 0);
  await context.close();
});
