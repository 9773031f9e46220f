// The demo page in Chromium: what its tests share.

import { mkdirSync, readFileSync } from 'node:fs';
import { complaints, launch, LONG, until } from './chromium.mjs';
import { file, pageFolder, root } from './paths.mjs';
import { serve } from './server.mjs';

export const shots = file(root, 'target/screenshots');
/** The command that trains models for the page. */
export const command = process.env.KOAN ?? file(root, 'target/release/koan');
const axe = readFileSync(file(root, 'wasm/node_modules/axe-core/axe.min.js'), 'utf8');
/** How far a hand moves between two events, as a share of the pad. */
const MOVE = 0.08;
let browser;
let server;

export async function start() {
  mkdirSync(shots, { recursive: true });
  server = await serve({ '/': pageFolder });
  browser = await launch();
}

export async function stop() {
  await browser?.close();
  await server?.close();
}

/** Opens the page in a context of its own; `fragment`: what its address ends in. */
export async function open(options = {}, fragment = '') {
  const context = await browser.newContext({ viewport: { width: 1100, height: 1000 }, ...options });
  context.setDefaultTimeout(LONG);
  const page = await context.newPage();
  const list = complaints(page);
  await page.goto(`${server.origin}/${fragment}`);
  await until(page, () => document.querySelector('#bytes').textContent.includes('bytes'));
  return { context, page, list };
}

/** Draws strokes, given in a unit square, as a hand does: with many small moves. */
export async function draw(page, strokes) {
  await page.click('#clear');
  await page.locator('#pad').scrollIntoViewIfNeeded();
  const box = await page.locator('#pad').boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  for (const [first, ...rest] of strokes) {
    await page.mouse.move(...at(first));
    await page.mouse.down();
    let [x, y] = first;
    for (const point of rest) {
      const length = Math.hypot(point[0] - x, point[1] - y);
      await page.mouse.move(...at(point), { steps: Math.ceil(length / MOVE) });
      [x, y] = point;
    }
    await page.mouse.up();
  }
}

export async function recognised(page, digit) {
  await until(page, (digit) => document.querySelector('#answer b')?.textContent === digit, digit);
  return page.textContent('#answer');
}

/** What axe finds; the page's own policy, which forbids other scripts, must be off. */
export async function accessible(page) {
  await page.addScriptTag({ content: axe });
  const results = await page.evaluate(() => window.axe.run(document));
  return results.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`);
}

/** Gives the page a file, and waits for what it says. */
export async function give(page, id, name, buffer, message) {
  await page.setInputFiles(id, { name, mimeType: 'application/octet-stream', buffer: Buffer.from(buffer) });
  await until(page, (message) => document.querySelector('#problem').textContent.includes(message), message);
}

/**
 * Has the page read files whose names begin with `slow` only when they are released, and fail then to
 * read those that begin with `gone`.
 *
 * @returns what releases them, and waits until the page has them
 */
export async function hold(page) {
  await page.evaluate(() => {
    const read = Blob.prototype.arrayBuffer;
    const released = new Promise((resolve) => { window.release = resolve; });
    window.held = 0;
    Blob.prototype.arrayBuffer = async function () {
      if (!/^(slow|gone)/.test(this.name)) return read.call(this);
      window.held++;
      await released;
      try {
        if (this.name.startsWith('gone')) throw new DOMException('the file could not be read', 'NotReadableError');
        return await read.call(this);
      } finally {
        window.held--;
      }
    };
  });
  return async () => {
    await page.evaluate(() => window.release());
    await until(page, () => window.held === 0);
    await page.waitForTimeout(300);
  };
}

/** Files that are no tables: their first bytes, and what is said of them. */
export const KINDS = [
  ['book.xlsx', Buffer.from('PK\x03\x04\x14\0\x06\0\b\0\0\0!\0'), 'an Excel workbook or another zip archive, not text'],
  ['old.xls', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), 'an old Excel or Word file'],
  ['picture.png', Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0]), 'a PNG picture, not a table'],
  ['photo.jpg', Buffer.from([255, 216, 255, 224, 0, 16]), 'a JPEG picture, not a table'],
  ['paper.pdf', Buffer.from('%PDF-1.7\n'), 'a PDF document, not a table'],
  ['wide.csv', Buffer.from('\ufeffa,b\n1,2\n', 'utf16le'), 'UTF-16 text: save it as UTF-8'],
  ['wide bare.csv', Buffer.from('a,b\n1,2\n', 'utf16le'), 'UTF-16 text: save it as UTF-8'],
  ['old.csv', Buffer.from('größe,b\n1,2\n', 'latin1'), 'text in Latin-1 or another old encoding: save it as UTF-8'],
  ['noise.bin', Buffer.from([1, 2, 3, 250, 0, 7, 9, 200]), 'neither a koan model nor a table of text'],
];
