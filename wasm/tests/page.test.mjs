// The demo page in Chromium: drawn digits, tables, errors, screenshots.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { complaints, launch, until } from './chromium.mjs';
import { file, root } from './paths.mjs';
import { serve } from './server.mjs';
import { STROKES } from './strokes.mjs';

const folder = file(root, 'target/page');
const shots = file(root, 'target/screenshots');
const axe = readFileSync(file(root, 'wasm/node_modules/axe-core/axe.min.js'), 'utf8');
let browser;
let server;

before(async () => {
  mkdirSync(shots, { recursive: true });
  server = await serve({ '/': folder });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 1000 }, ...options });
  const page = await context.newPage();
  const list = complaints(page);
  await page.goto(server.origin);
  await until(page, () => document.querySelector('#bytes').textContent.includes('bytes'));
  return { context, page, list };
}

/** Draws strokes, given in a unit square, as a hand does: with many small moves. */
async function draw(page, strokes) {
  await page.click('#clear');
  await page.locator('#pad').scrollIntoViewIfNeeded();
  const box = await page.locator('#pad').boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  for (const [first, ...rest] of strokes) {
    await page.mouse.move(...at(first));
    await page.mouse.down();
    for (const point of rest) await page.mouse.move(...at(point), { steps: 4 });
    await page.mouse.up();
  }
}

async function recognised(page, digit) {
  await until(page, (digit) => document.querySelector('#answer b')?.textContent === digit, digit);
  return page.textContent('#answer');
}

/** What axe finds; the page's own policy, which forbids other scripts, must be off. */
async function accessible(page) {
  await page.addScriptTag({ content: axe });
  const results = await page.evaluate(() => window.axe.run(document));
  return results.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`);
}

for (const digit of Object.keys(STROKES)) {
  test(`strokes of a ${digit} are a ${digit}`, async () => {
    const { context, page, list } = await open();
    await draw(page, STROKES[digit]);
    console.log(`  drawn ${digit}: ${await recognised(page, digit)}; ${await page.textContent('#micros')}`);
    if ('017'.includes(digit)) await page.screenshot({ path: file(shots, `digit-${digit}.png`), fullPage: true });
    assert.deepEqual(list, []);
    await context.close();
  });
}

test('the keyboard draws a 1, and Delete clears', async () => {
  const { context, page, list } = await open();
  await page.focus('#pad');
  await page.keyboard.press('Space');
  for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await recognised(page, '1');
  await page.keyboard.press('Delete');
  await until(page, () => document.querySelector('#answer').textContent === 'Nothing drawn yet');
  assert.deepEqual(list, []);
  await context.close();
});

test('a touch draws', async () => {
  const { context, page, list } = await open({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });
  const box = await page.locator('#pad').boundingBox();
  const session = await context.newCDPSession(page);
  const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points });
  const at = (y) => [{ x: box.x + box.width / 2, y: box.y + y * box.height }];
  await touch('touchStart', at(0.15));
  for (let y = 0.2; y < 0.9; y += 0.05) await touch('touchMove', at(y));
  await touch('touchEnd', []);
  await recognised(page, '1');
  assert.deepEqual(list, []);
  await context.close();
});

for (const [name, options] of [
  ['light', { bypassCSP: true }],
  ['dark', { bypassCSP: true, colorScheme: 'dark' }],
  ['phone', { bypassCSP: true, viewport: { width: 390, height: 844 } }],
]) {
  test(`${name}: no violation that axe finds, nothing wider than the page`, async () => {
    const { context, page, list } = await open(options);
    await draw(page, STROKES[7]);
    await recognised(page, '7');
    await page.screenshot({ path: file(shots, `${name}.png`), fullPage: true });
    assert.deepEqual(await accessible(page), []);
    const [inner, full] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(full <= inner, `the page is ${full} wide in a window of ${inner}`);
    assert.deepEqual(list, []);
    await context.close();
  });
}

test('a model and a table give predictions and accuracy', async () => {
  const { context, page, list } = await open({ bypassCSP: true });
  const golden = JSON.parse(readFileSync(file(root, 'tests/golden/digits.json'), 'utf8')).rows;
  const expected = golden.map(({ scores }) => scores.indexOf(Math.max(...scores)));
  // The last target is wrong on purpose.
  const targets = expected.map((digit, row) => (row === golden.length - 1 ? (digit + 1) % 10 : digit));
  const csv = golden.map(({ row }, index) => [...row, targets[index]].join(',')).join('\r\n');
  await page.setInputFiles('#table-file', { name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await until(page, () => document.querySelector('#summary').textContent === 'Now a model.');
  await page.setInputFiles('#model-file', file(root, 'tests/golden/digits.koan'));
  await page.waitForSelector('#results:not([hidden])');
  const right = golden.length - 1;
  assert.match(await page.textContent('#summary'), new RegExp(`^${golden.length} rows, .*\\(${right} of ${golden.length}\\)`));
  const shown = await page.locator('#results tbody tr td:nth-child(2)').allTextContents();
  assert.deepEqual(shown, expected.map(String));
  assert.equal(await page.locator('#results tbody tr.wrong').count(), 1);
  await page.screenshot({ path: file(shots, 'table.png'), fullPage: true });
  assert.deepEqual(await accessible(page), []);
  assert.deepEqual(list, []);
  await context.close();
});

test('wrong files are named, with what is wrong', async () => {
  const { context, page, list } = await open({ bypassCSP: true });
  const give = async (id, name, buffer, message) => {
    await page.setInputFiles(id, { name, mimeType: 'application/octet-stream', buffer });
    await until(page, (message) => document.querySelector('#problem').textContent.includes(message), message);
  };
  const digits = readFileSync(file(root, 'tests/golden/digits.koan'));
  const row = Array(64).fill(1);
  const csv = (rows) => Buffer.from(rows.map((row) => row.join(',')).join('\n'));
  const garbage = readFileSync(file(root, 'tests/golden/bad/garbage.bin'));
  await give('#model-file', 'garbage.koan', garbage, 'garbage.koan: not a koan blob');
  await give('#table-file', 'picture.png', Buffer.from([137, 80, 78, 71, 0, 1, 2]), 'picture.png: neither');
  await page.setInputFiles('#table-file', { name: 'a.csv', mimeType: 'text/csv', buffer: csv([row]) });
  const damaged = Buffer.from(digits);
  damaged[100] ^= 1;
  await give('#model-file', 'damaged.koan', damaged, 'checksum mismatch: the blob is damaged');
  await page.screenshot({ path: file(shots, 'problem.png'), fullPage: true });
  await give('#model-file', 'short.koan', digits.subarray(0, 12), 'the blob ends before field `header` at offset 5');
  await page.setInputFiles('#model-file', { name: 'digits.koan', mimeType: '', buffer: digits });
  await page.waitForSelector('#results:not([hidden])');
  await give('#table-file', 'narrow.csv', csv([[1, 2, 3]]), 'the table has 3 columns, the model needs 65');
  await give('#table-file', 'text.csv', csv([row, [...row.slice(1), 'seven']]), 'line 2, column 64: `seven` is not a number');
  await give('#table-file', 'ragged.csv', csv([row, [1]]), 'line 2 has 1 fields, the first has 64');
  await give('#table-file', 'empty.csv', Buffer.from('\n'), 'the table is empty');
  assert.deepEqual(await accessible(page), []);
  assert.deepEqual(list, []);
  await context.close();
});

test('the page opens and recognises without a network', async () => {
  const { context, page, list } = await open();
  await page.evaluate(async () => { await navigator.serviceWorker.ready; });
  await page.reload();
  await until(page, () => navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  await page.reload();
  await until(page, () => document.querySelector('#bytes').textContent.includes('bytes'));
  await draw(page, STROKES[0]);
  await recognised(page, '0');
  assert.deepEqual(list, []);
  await context.close();
});
