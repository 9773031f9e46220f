// The pages of `koan train --report` and `koan eval --report` in Chromium, without
// a network: no complaint, no request, accessible; screenshots.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { complaints, launch, LONG } from './chromium.mjs';
import { file, root } from './paths.mjs';

const shots = file(root, 'target/screenshots');
const axe = readFileSync(file(root, 'wasm/node_modules/axe-core/axe.min.js'), 'utf8');
const command = process.env.KOAN ?? file(root, 'target/release/koan');
let folder;
let browser;

/** Runs the command in the temporary folder. */
function koan(...words) {
  return execFileSync(command, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A smooth function of two inputs, a little noise, and a text column with missing values. */
function numbers() {
  const lines = ['a,b,kind,y'];
  for (let i = 0; i < 400; i++) {
    const [a, b, noise] = [0.618, 0.755, 0.57].map((step) => ((i + 1) * step) % 1);
    const kind = i % 5 === 0 ? '' : ['red', 'green'][i % 2];
    lines.push(`${a.toFixed(4)},${b.toFixed(4)},${kind},${(Math.sin(6 * a) + b * b + 0.1 * noise).toFixed(4)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Some of the demo's images: 64 pixels and the digit, as it writes them itself. */
function digits() {
  const bytes = gunzipSync(readFileSync(file(root, 'host/data/digits/digits.gz')));
  const rows = Array.from({ length: 300 }, (_, row) => bytes.subarray(65 * row, 65 * row + 65));
  return `${rows.map((row) => row.join(',')).join('\n')}\n`;
}

/** Two classes, told apart by one number and a text; the other column says nothing. */
function two() {
  const lines = ['x,colour,noise,state'];
  for (let i = 0; i < 500; i++) {
    const [x, noise] = [0.618, 0.755].map((step) => ((i + 1) * step) % 1);
    const colour = ['red', 'green', 'blue'][i % 3];
    const on = (x > 0.5) === (colour !== 'red') || i % 17 === 0;
    lines.push(`${x.toFixed(4)},${colour},${noise.toFixed(4)},${on ? 'on' : 'off'}`);
  }
  return `${lines.join('\n')}\n`;
}

before(async () => {
  mkdirSync(shots, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), 'koan-report-'));
  writeFileSync(join(folder, 'digits.csv'), digits());
  writeFileSync(join(folder, 'numbers.csv'), numbers());
  writeFileSync(join(folder, 'two.csv'), two());
  koan('train', 'digits.csv', '-o', 'digits.koan', '-k', '128', '--report', 'digits.html');
  koan('train', 'numbers.csv', '-o', 'numbers.koan', '-k', '64', '--missing', 'impute', '--report', 'numbers.html');
  koan('train', 'two.csv', '-o', 'two.koan', '-k', '64', '--report', 'two.html');
  koan('eval', file(root, 'firmware-example/digits.koan'), 'digits.csv', '--report', 'eval.html');
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** Opens a page without a network; whatever it asks for besides itself is listed. */
async function open(name, options) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
  context.setDefaultTimeout(LONG);
  await context.setOffline(true);
  const page = await context.newPage();
  const list = complaints(page);
  const address = pathToFileURL(join(folder, name)).href;
  page.on('request', (request) => {
    if (request.url() !== address) list.push(`asks for ${request.url()}`);
  });
  await page.goto(address);
  return { context, page, list };
}

async function shot(page, name) {
  await page.screenshot({ path: file(shots, `report-${name}.png`), fullPage: true });
}

// Each colour scheme and each width; their other combinations with `THOROUGH`.
const LOOKS = {
  light: { colorScheme: 'light' },
  'phone in the dark': { colorScheme: 'dark', viewport: { width: 375, height: 800 } },
};
if (process.env.THOROUGH) {
  LOOKS.dark = { colorScheme: 'dark' };
  LOOKS.phone = { colorScheme: 'light', viewport: { width: 375, height: 800 } };
}

for (const name of ['digits', 'numbers', 'two', 'eval']) {
  for (const [look, options] of Object.entries(LOOKS)) {
    test(`the page of ${name}, ${look}`, async () => {
      // axe is a script: the page's own policy, which forbids all, must be off.
      const { context, page, list } = await open(`${name}.html`, { bypassCSP: true, ...options });
      await shot(page, `${name}-${look}`);
      assert.deepEqual(list, []);
      // No page is wider than its window: what is wide scrolls by itself.
      const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(width <= room, `${width} pixels wide in a window of ${room}`);
      await page.addScriptTag({ content: axe });
      const results = await page.evaluate(() => window.axe.run(document));
      assert.deepEqual(results.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`), []);
      await context.close();
    });
  }

  test(`the page of ${name}, printed, fits its paper`, async () => {
    // A4 at 96 dots an inch, less the margins of a browser.
    const { context, page } = await open(`${name}.html`, { bypassCSP: true, viewport: { width: 716, height: 1000 } });
    await page.emulateMedia({ media: 'print' });
    const wide = await page.evaluate(() => {
      const boxes = [document.documentElement, ...document.querySelectorAll('.scroll')];
      return boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.textContent.slice(0, 60));
    });
    assert.deepEqual(wide, []);
    await context.close();
  });

  test(`the letters in the plots of ${name} are inside and apart`, async () => {
    const { context, page } = await open(`${name}.html`, { bypassCSP: true });
    const wrong = await page.evaluate(() => {
      const found = [];
      const plots = document.querySelectorAll('svg.plot');
      if (plots.length === 0) found.push('there is no plot');
      for (const plot of plots) {
        const frame = plot.getBoundingClientRect();
        const boxes = [...plot.querySelectorAll('text')].map((text) => [text.textContent.trim(), text.getBoundingClientRect()]);
        boxes.forEach(([text, box], i) => {
          if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
            found.push(`${text} is cut off`);
          }
          for (const [other, next] of boxes.slice(i + 1)) {
            if (box.left < next.right && next.left < box.right && box.top < next.bottom - 2 && next.top < box.bottom - 2) {
              found.push(`${text} overlaps ${other}`);
            }
          }
        });
      }
      return found;
    });
    assert.deepEqual(wrong, []);
    await context.close();
  });
}

test('what is in the dark is light: no mark of a plot keeps a dark colour', async () => {
  const { context, page } = await open('digits.html', { bypassCSP: true, colorScheme: 'dark' });
  const dark = await page.evaluate(() => {
    const bright = (colour) => Math.max(...colour.match(/\d+/g).slice(0, 3).map(Number));
    return [...document.querySelectorAll('svg.plot text')].filter((text) => bright(getComputedStyle(text).fill) < 150).length;
  });
  assert.equal(dark, 0);
  await context.close();
});

test('the sections and figures are there', async () => {
  const { context, page } = await open('digits.html', { bypassCSP: true });
  const headings = await page.$$eval('h2', (all) => all.map((h) => h.textContent));
  assert.deepEqual(headings, [
    'How good it is', 'What the inputs are worth', 'The worst rows', 'Other sizes', 'What was searched', 'The data',
    'The model', 'How to repeat it',
  ]);
  const captions = await page.$$eval('figcaption', (all) => all.map((c) => c.textContent).join('\n'));
  for (const part of ['Confusion matrix', 'Reliability', 'Error against features', 'Error against bits', 'Bytes against error', 'Learning curve', 'comparison', 'Pieces of the picture', 'taken for another class', 'Shares of training rows']) {
    assert.ok(captions.includes(part), `${part} in\n${captions}`);
  }
  const line = await page.textContent('pre');
  assert.equal(line.trim(), 'koan train digits.csv -o digits.koan -k 128 --report digits.html');
  await context.close();
});

test('a verdict stands first, and the confusion matrix is as wide as the page', async () => {
  const { context, page } = await open('two.html', { bypassCSP: true });
  assert.match(await page.textContent('.verdict .words'), /linear model/);
  const tiles = await page.$$eval('.tiles dt', (all) => all.map((t) => t.textContent));
  assert.deepEqual(tiles, ['error', 'a linear model', 'a constant', 'flash', 'RAM', 'instructions']);
  const [heat, main] = await page.evaluate(() => ['.heat', 'main'].map((s) => document.querySelector(s).offsetWidth));
  assert.ok(heat > 0.95 * main, `${heat} of ${main}`);
  const captions = await page.$$eval('figcaption, caption', (all) => all.map((c) => c.textContent).join('\n'));
  for (const part of ['ROC curve', 'Precision and recall', 'What other thresholds would give', 'Columns by what they are worth']) {
    assert.ok(captions.includes(part), `${part} in\n${captions}`);
  }
  await context.close();
});

test('a pointer on a point gets its values', async () => {
  const { context, page } = await open('two.html', { bypassCSP: true });
  const titles = await page.$$eval('svg.plot', (plots) => plots.map((plot) => plot.querySelectorAll('.hover title').length));
  assert.ok(titles.length > 3 && titles.every((count) => count > 0), titles.join(' '));
  const roc = await page.textContent('svg.plot .hover title:nth-child(1)');
  assert.match(roc, /found/);
  await context.close();
});

test('axes of probabilities stop at 0 and 1', async () => {
  const { context, page } = await open('two.html', { bypassCSP: true });
  const beyond = await page.$$eval('figure', (figures) =>
    figures
      .filter((figure) => /probabilit|ROC|recall/i.test(figure.querySelector('figcaption').textContent))
      .flatMap((figure) => [...figure.querySelectorAll('svg.plot text')].map((text) => text.textContent.trim()))
      .filter((text) => text.startsWith('−')),
  );
  assert.deepEqual(beyond, []);
  await context.close();
});

test('the same command gives the same page but for the seconds', () => {
  const read = () => readFileSync(join(folder, 'numbers.html'), 'utf8').replace(/(seconds[^<]*<\/th> ?<td>)[^<]*/, '$1');
  const first = read();
  koan('train', 'numbers.csv', '-o', 'numbers.koan', '-k', '64', '--missing', 'impute', '--report', 'numbers.html');
  assert.equal(read(), first);
});
