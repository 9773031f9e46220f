// The demo page in Chromium: drawn digits, tables, errors, screenshots.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { until } from './chromium.mjs';
import { accessible, draw, give, hold, KINDS, open, recognised, shots, start, stop } from './page.mjs';
import { file, pageFolder, root } from './paths.mjs';
import { scribbles } from './scribbles.mjs';
import { STROKES } from './strokes.mjs';

before(start);
after(stop);

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

test('a digit draws itself, and goes when somebody draws', async () => {
  for (const reducedMotion of ['no-preference', 'reduce']) {
    const { context, page, list } = await open({ reducedMotion });
    await recognised(page, '3');
    await until(page, () => document.querySelector('#answer').getAttribute('aria-live') === 'polite');
    const box = await page.locator('#pad').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 0.15 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 0.85 * box.height, { steps: 8 });
    await page.mouse.up();
    await recognised(page, '1');
    assert.deepEqual(list, []);
    await context.close();
  }
});

test('for who wants little motion the digit is there at once', async () => {
  const { context, page } = await open({ reducedMotion: 'reduce' });
  await until(page, () => document.querySelector('#answer b'));
  assert.equal(await page.textContent('#answer b'), '3');
  await context.close();
});

test('a file that is dropped beside the panels does not take the place of the page', async () => {
  const { context, page } = await open();
  const prevented = await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['a,b'], 'own.csv'));
    return ['dragover', 'drop'].map(
      (name) => !document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true })),
    );
  });
  assert.deepEqual(prevented, [true, true]);
  await context.close();
});

test('a scribble is no digit', async () => {
  const { context, page, list } = await open({ bypassCSP: true });
  const [{ strokes }] = scribbles(6, 1).filter(({ kind }) => kind === 'tangle');
  await draw(page, strokes);
  await recognised(page, 'Not a digit');
  assert.match(await page.textContent('#answer'), /^Not a digit nearest: \d$/);
  await page.screenshot({ path: file(shots, 'scribble.png'), fullPage: true });
  assert.deepEqual(await accessible(page), []);
  assert.deepEqual(list, []);
  await context.close();
});

test('what a link to the page shows: a title, a sentence and a picture of the right size', async () => {
  const { context, page } = await open();
  const of = (name) => page.getAttribute(`meta[property="og:${name}"]`, 'content');
  assert.match(await of('title'), /^Koan: .* [\d,]+ bytes$/);
  assert.equal(await of('description'), await page.getAttribute('meta[name="description"]', 'content'));
  assert.equal(await of('image'), 'preview.png');
  const picture = readFileSync(file(pageFolder, 'preview.png'));
  const size = [16, 20].map((at) => String(picture.readUInt32BE(at)));
  assert.deepEqual(size, [await of('image:width'), await of('image:height')]);
  await context.close();
});

test('on a phone the pad and all bars are in view', async () => {
  // What the smaller phones leave to a page.
  for (const viewport of [{ width: 390, height: 664 }, { width: 375, height: 548 }]) {
    const { context, page } = await open({ viewport, hasTouch: true, isMobile: true });
    const box = await page.locator('#bars').boundingBox();
    assert.ok(box.y + box.height <= viewport.height, `the bars end at ${box.y + box.height} of ${viewport.height}`);
    await context.close();
  }
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
  ['phone-dark', { bypassCSP: true, colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
]) {
  test(`${name}: no violation that axe finds, nothing wider than the page`, async () => {
    const { context, page, list } = await open(options);
    await draw(page, STROKES[7]);
    await recognised(page, '7');
    await page.click('#qr-open');
    await page.waitForSelector('#qr:not([hidden])');
    await until(page, () => document.querySelector('#qr-note').textContent !== '');
    await page.screenshot({ path: file(shots, `${name}.png`), fullPage: true });
    assert.deepEqual(await accessible(page), []);
    const [inner, full] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(full <= inner, `the page is ${full} wide in a window of ${inner}`);
    assert.deepEqual(list, []);
    await context.close();
  });
}

test('on a desk buttons stand in one line, and beside what they copy', async () => {
  const { context, page } = await open({ viewport: { width: 1280, height: 900 } });
  const tops = (selector) => page.$$eval(selector, (all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
  assert.equal(new Set(await tops('.buttons > *')).size, 1);
  assert.deepEqual(await tops('.code pre'), await tops('.code button'));
  await context.close();
});

test('what the page loads is a figure of the build', async () => {
  const { context, page } = await open();
  assert.match(await page.textContent('.loads'), /this page: runtime, models, everything\s*(3\d|40) KB/);
  const lines = readFileSync(file(root, 'wasm/README.md'), 'utf8');
  assert.ok(lines.includes(await page.textContent('#install')));
  await context.close();
});

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
  assert.match(await page.textContent('#summary'), new RegExp(`^rows\\.csv: ${golden.length} rows, .*\\(${right} of ${golden.length}\\)`));
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
  const digits = readFileSync(file(root, 'tests/golden/digits.koan'));
  const row = Array(64).fill(1);
  const csv = (rows) => Buffer.from(rows.map((row) => row.join(',')).join('\n'));
  const garbage = readFileSync(file(root, 'tests/golden/bad/garbage.bin'));
  await give(page, '#model-file', 'garbage.koan', garbage, 'garbage.koan: not a koan blob');
  for (const [name, start, message] of KINDS) await give(page, '#table-file', name, start, `${name}: ${message}`);
  await page.setInputFiles('#table-file', { name: 'a.csv', mimeType: 'text/csv', buffer: csv([row]) });
  const damaged = Buffer.from(digits);
  damaged[100] ^= 1;
  await give(page, '#model-file', 'damaged.koan', damaged, 'checksum mismatch: the blob is damaged');
  await page.screenshot({ path: file(shots, 'problem.png'), fullPage: true });
  await give(page, '#model-file', 'short.koan', digits.subarray(0, 12), 'the blob ends before field `header` at offset 5');
  await page.setInputFiles('#model-file', { name: 'digits.koan', mimeType: '', buffer: digits });
  await page.waitForSelector('#results:not([hidden])');
  const shown = await page.textContent('#results tbody');
  const kept = 'The predictions are still those of a.csv';
  await give(page, '#table-file', 'narrow.csv', csv([[1, 2, 3]]), `the table has 3 columns, the model needs 64 columns (65 with the target). ${kept}`);
  await give(page, '#table-file', 'text.csv', csv([row, [...row.slice(1), 'seven']]), 'line 2, column 64: `seven` is not a number');
  await give(page, '#table-file', 'ragged.csv', csv([row, [1]]), 'line 2 has 1 fields, the first has 64');
  await give(page, '#table-file', 'empty.csv', Buffer.from('\n'), 'the table is empty');
  // Neither does a wrong file in the model's place change anything.
  const note = await page.textContent('#model-note');
  assert.match(note, /^digits\.koan: .* bytes, classification of the classes 0, 1, .* A row of the table has 64 columns\.$/);
  await give(page, '#model-file', 'garbage.koan', garbage, 'garbage.koan: not a koan blob: it does not start with the bytes KOAN. Nothing is changed.');
  await give(page, '#model-file', 'rows.csv', csv([row]), 'rows.csv: not a koan blob');
  await give(page, '#model-file', 'damaged.koan', damaged, 'damaged.koan: checksum mismatch: the blob is damaged. Nothing is changed.');
  assert.equal(await page.textContent('#results tbody'), shown);
  assert.equal(await page.textContent('#model-note'), note);
  assert.deepEqual(await accessible(page), []);
  assert.deepEqual(list, []);
  await context.close();
});

test('the file that was chosen last is used, whichever is read first', async () => {
  const { context, page, list } = await open();
  const digits = readFileSync(file(root, 'tests/golden/digits.koan'));
  const bring = (id, name, buffer) => page.setInputFiles(id, { name, mimeType: '', buffer });
  const rows = (count) => Buffer.from(`${Array(64).fill(1)}\n`.repeat(count));
  const said = (selector, start) => until(page, ([selector, start]) => document.querySelector(selector).textContent.startsWith(start), [selector, start]);
  const shown = async () => [await page.textContent('#summary'), await page.textContent('#problem'), await page.textContent('#model-note')].map((text) => text.split(':')[0]);
  await bring('#model-file', 'first.koan', digits);
  await said('#model-note', 'first.koan: ');
  for (const late of ['slow.csv', 'gone.csv']) {
    const release = await hold(page);
    await bring('#table-file', late, rows(1));
    await bring('#table-file', 'quick.csv', rows(2));
    await said('#summary', 'quick.csv: 2 rows');
    await release();
    assert.deepEqual(await shown(), ['quick.csv', '', 'first.koan']);
    await bring('#table-file', 'other.csv', rows(3));
    await said('#summary', 'other.csv: 3 rows');
  }
  // Typed rows are a table too.
  let release = await hold(page);
  await bring('#table-file', 'slow.csv', rows(1));
  await page.fill('#typed', String(rows(4)));
  await page.click('#typed-run');
  await said('#summary', 'the typed rows: 4 rows');
  await release();
  assert.deepEqual(await shown(), ['the typed rows', '', 'first.koan']);
  for (const late of ['slow.koan', 'gone.koan']) {
    release = await hold(page);
    await bring('#model-file', late, digits);
    await bring('#model-file', 'quick.koan', digits);
    await said('#model-note', 'quick.koan: ');
    await release();
    assert.deepEqual(await shown(), ['the typed rows', '', 'quick.koan']);
  }
  // A model and a table do not take each other's place.
  release = await hold(page);
  await bring('#model-file', 'slow.koan', digits);
  await bring('#table-file', 'quick.csv', rows(2));
  await said('#summary', 'quick.csv: 2 rows');
  await release();
  await said('#model-note', 'slow.koan: ');
  release = await hold(page);
  await bring('#table-file', 'gone.csv', rows(1));
  await bring('#model-file', 'quick.koan', digits);
  await said('#model-note', 'quick.koan: ');
  await release();
  assert.equal(await page.textContent('#problem'), 'gone.csv: the file could not be read. Nothing is changed.');
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
