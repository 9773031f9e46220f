// Training on the demo page in Chromium: the models of several tables have the bytes that the
// command makes by the line that the page shows. With the folder of the public data sets in
// `DATA` also adult's first 5,000 rows, and the seconds from the file to a prediction.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { complaints, launch, LONG, until } from './chromium.mjs';
import { hold, KINDS } from './page.mjs';
import { file, root } from './paths.mjs';
import { serve } from './server.mjs';
import { codes, diary, numbers, rings, states, waves } from './tables.mjs';

const shots = file(root, 'target/screenshots');
const axe = readFileSync(file(root, 'wasm/node_modules/axe-core/axe.min.js'), 'utf8');
const command = process.env.KOAN ?? file(root, 'target/release/koan');
const adult = process.env.DATA && file(process.env.DATA, 'adult/adult.data.gz');
let browser;
let server;
let folder;

before(async () => {
  mkdirSync(shots, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), 'koan-train-'));
  server = await serve({ '/': file(root, 'target/page') });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
  if (folder) rmSync(folder, { recursive: true });
});

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 1000 }, bypassCSP: true, ...options });
  context.setDefaultTimeout(LONG);
  const page = await context.newPage();
  const list = complaints(page);
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(server.origin);
  await until(page, () => document.querySelector('#bytes').textContent.includes('bytes'));
  return { context, page, list, asked };
}

/** Gives the page a table to train on, or another file; it is in the temporary folder as well. */
async function give(page, name, text) {
  writeFileSync(join(folder, name), text);
  await page.setInputFiles('#train-file', { name, mimeType: 'text/csv', buffer: Buffer.from(text) });
}

const trained = (page) => until(page, () => document.querySelector('#train-download') && document.querySelector('#train-cancel').hidden, undefined, 5 * LONG);

async function downloaded(page) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#train-download')]);
  return readFileSync(await download.path());
}

/** What the command makes by the line that the page shows. */
function made(line) {
  const path = `${dirname(command)}:${process.env.PATH}`;
  execFileSync('sh', ['-c', line], { cwd: folder, env: { ...process.env, PATH: path }, stdio: 'ignore' });
  return readFileSync(join(folder, 'model.koan'));
}

/** Every model that the page has: the same bytes as the command's. */
async function compared(page) {
  const models = await page.locator('.front tbody button').count();
  for (let number = 0; number < models; number++) {
    await page.locator('.front tbody button').nth(number).click();
    const line = await page.textContent('#train-command');
    const own = await downloaded(page);
    const bytes = made(line);
    assert.ok(own.equals(bytes), `${line}: ${own.length} bytes here, ${bytes.length} by the command`);
    console.log(`  ${line}: the same ${own.length} bytes`);
  }
  return models;
}

async function accessible(page) {
  await page.addScriptTag({ content: axe });
  const results = await page.evaluate(() => window.axe.run(document));
  return results.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`);
}

for (const [name, text, target] of [
  ['states.csv', states(600)],
  ['the rings.csv', rings(800), '0'],
  ['numbers.csv', numbers(700)],
  ['waves.csv', waves(600)],
  ['codes.tsv', codes(1000)],
  ['packed.csv.gz', gzipSync(numbers(300))],
]) {
  test(`models of ${name} have the bytes of the command`, async () => {
    const { context, page, list } = await open();
    await give(page, name, text);
    await page.waitForSelector('#train-start');
    if (target) await page.selectOption('#train-target', target);
    await page.click('#train-start');
    await trained(page);
    await page.waitForSelector('#results:not([hidden])');
    assert.equal(await compared(page), 5);
    await until(page, () => document.querySelector('#train-result').textContent.endsWith('stand in the panel above.'));
    assert.deepEqual(await accessible(page), []);
    await page.screenshot({ path: file(shots, `train-${name.replace(/\W+/g, '-')}.png`), fullPage: true });
    assert.deepEqual(list, []);
    await context.close();
  });
}

test('a table whose first line names its delimiter is predicted after training; of ARFF nothing is said', async () => {
  const { context, page, list } = await open();
  const table = states(300);
  await give(page, 'sheet.csv', `sep=;\n${table.replaceAll(',', ';')}`);
  await page.waitForSelector('#train-start');
  await page.click('#train-start');
  await trained(page);
  await page.waitForSelector('#results:not([hidden])');
  assert.match(await page.textContent('#summary'), /^sheet\.csv: 300 rows, [\d.]+ % right/);
  // A page that has no table yet.
  const { context: other, page: second, list: more } = await open();
  const attributes = ['heat numeric', 'load numeric', 'kind {pump,fan,heater}', 'hours numeric', 'state {bad,good}'];
  const rows = table.trim().split('\n').slice(1).map((line) => line.replace(/^,/, '?,'));
  const arff = `% states\n@relation states\n${attributes.map((text) => `@attribute ${text}\n`).join('')}@data\n${rows.join('\n')}\n`;
  await give(second, 'states.arff', arff);
  await second.waitForSelector('#train-start');
  await second.click('#train-start');
  await trained(second);
  await until(second, () => document.querySelector('#summary').textContent === 'Now a table.');
  assert.equal(await second.textContent('#problem'), '');
  await second.setInputFiles('#table-file', { name: 'states.arff', mimeType: '', buffer: Buffer.from(arff) });
  await until(second, () => document.querySelector('#problem').textContent.startsWith('states.arff: ARFF or PROBEN1: drop it on the panel below'));
  assert.deepEqual([...list, ...more], []);
  await context.close();
  await other.close();
});

test('what trains is loaded when it is asked for, and works without a network then', async () => {
  const { context, page, list, asked } = await open();
  await page.evaluate(async () => { await navigator.serviceWorker.ready; });
  assert.deepEqual(asked.filter((path) => path.startsWith('/train')), []);
  assert.match(await page.textContent('#train-title + p'), /What trains is (0\.9|1\.0) MB more to load\.$/m);
  await page.reload();
  await until(page, () => navigator.serviceWorker.controller !== null);
  const text = states(300);
  await give(page, 'states.csv', text);
  await page.waitForSelector('#train-start');
  await context.setOffline(true);
  await page.reload();
  await give(page, 'states.csv', text);
  await page.waitForSelector('#train-start');
  await page.click('#train-start');
  await until(page, () => document.querySelector('.front tbody button'), undefined, 3 * LONG);
  assert.deepEqual(list, []);
  await context.close();
});

test('a search is cancelled, and training goes on', async () => {
  const { context, page, list } = await open();
  await give(page, 'small.csv', rings(120));
  await page.waitForSelector('#train-search');
  await page.selectOption('#train-target', '0');
  await page.click('#train-search');
  await until(page, () => document.querySelector('#train-status').textContent.includes('candidates'), undefined, 3 * LONG);
  await page.click('#train-cancel');
  assert.equal(await page.textContent('#train-status'), 'Cancelled.');
  await page.click('#train-start');
  await trained(page);
  assert.equal(await page.locator('.front tbody tr').count(), 5);
  assert.match(await page.textContent('#train-command'), / --target ring /);
  // Models of another target are not among those that follow, and none of them is the page's own.
  await page.selectOption('#train-target', '1');
  await page.click('#train-search');
  assert.deepEqual([await page.locator('.front *').count(), await page.textContent('#train-chosen')], [0, '']);
  await page.click('#train-cancel');
  assert.deepEqual([await page.locator('.front *').count(), await page.textContent('#train-chosen')], [0, '']);
  assert.deepEqual(list, []);
  await context.close();
});

test('a table without a model, or with one that does not fit, is offered to be trained on', async () => {
  const { context, page, list } = await open();
  const [name, mimeType] = ['states.csv', 'text/csv'];
  await page.setInputFiles('#table-file', { name, mimeType, buffer: Buffer.from(states(200)) });
  await page.waitForSelector('#train-table:not([hidden])');
  await page.setInputFiles('#model-file', file(root, 'tests/golden/digits.koan'));
  await until(page, () => document.querySelector('#problem').textContent.includes('columns'));
  await page.click('#train-table button');
  await page.waitForSelector('#train-start');
  await page.click('#train-start');
  await trained(page);
  await page.waitForSelector('#results:not([hidden])');
  assert.ok(await page.isHidden('#train-table'));
  assert.deepEqual(list, []);
  await context.close();
});

test('columns that are no categories can be left out, as by the command', async () => {
  const { context, page, list } = await open();
  await give(page, 'diary.csv', diary(400));
  await page.waitForSelector('#train-start');
  await page.click('#train-start');
  const offered = (name) => until(page, (name) => document.querySelector('#train-drop-column')?.textContent === `Leave \`${name}\` out`, name);
  await offered('when');
  await page.screenshot({ path: file(shots, 'train-leave-out.png'), fullPage: true });
  assert.deepEqual(await accessible(page), []);
  await page.click('#train-drop-column');
  await offered('who, exactly');
  await page.click('#train-drop-column');
  await trained(page);
  assert.match(await page.textContent('#train-dropped'), /^Left out: when, who, exactly Take them back$/);
  assert.match(await page.textContent('#train-command'), /^koan train diary\.csv --drop when,3 --missing impute --features 512 -o model\.koan$/);
  assert.equal(await compared(page), 5);
  // The target is never left out.
  await give(page, 'far.csv', 'a,y\n1,0.5\n2,1e99\n3,0.7\n4,0.1\n');
  await until(page, () => document.querySelector('#training').textContent.startsWith('far.csv: predict'));
  await page.click('#train-start');
  await until(page, () => document.querySelector('#train-status .problem')?.textContent.includes('1e99 is beyond'));
  assert.equal(await page.locator('#train-drop-column').count(), 0);
  assert.deepEqual(list, []);
  await context.close();
});

test('of a table that is too long the first rows are offered, with the command that takes them', async () => {
  const { context, page, list } = await open();
  for (const [name, content] of [['large.csv', numbers(10_001)], ['large.csv.gz', gzipSync(numbers(10_050))]]) {
    await give(page, name, content);
    await page.waitForSelector('#train-first');
    assert.match(await page.textContent('#training'), /^large\.csv(\.gz)?: more than 10,000 rows, the most that a browser trains on; .*Use the first 10,000 rows$/);
    await page.click('#train-first');
    await page.waitForSelector('#train-start');
  }
  const commandOfFirst = async () => {
    await page.click('#train-start');
    await until(page, () => document.querySelector('.front tbody button'), undefined, 3 * LONG);
    await page.click('#train-cancel');
    await page.click('.front tbody button');
    const line = await page.textContent('#train-command');
    assert.ok((await downloaded(page)).equals(made(line)));
    return line;
  };
  const options = '--missing impute --features 32 -o model.koan';
  assert.equal(await commandOfFirst(), `gunzip -c large.csv.gz | head -n 10001 > first.csv && koan train first.csv ${options}`);
  // By the ending `.tsv` tabs are between the fields, where semicolons are more.
  const tabbed = numbers(10_001).replace(/^.*\n/, 'a;1\tb;2\tc;3\td;4\te;5\tf;6\ty;7;8\n').replace(/,/g, '\t');
  await give(page, 'large.tsv.gz', gzipSync(tabbed));
  await page.click('#train-first');
  await page.waitForSelector('#train-start');
  assert.equal(await commandOfFirst(), `gunzip -c large.tsv.gz | head -n 10001 > first.tsv && koan train first.tsv ${options}`);
  // As long as it may be, with a line at its end that is blank.
  await give(page, 'long.csv', `${numbers(10_000)}\n`);
  await page.waitForSelector('#train-start');
  assert.deepEqual(list, []);
  await context.close();
});

test('without a network the page says that it cannot load what trains', async () => {
  const { context, page } = await open({ serviceWorkers: 'block' });
  for (const name of ['train.js', 'train-worker.js', 'train.wasm']) {
    await page.route(`**/${name}`, (route) => route.abort());
    await give(page, 'states.csv', states(50));
    await until(page, () => document.querySelector('#training .problem')?.textContent.includes('could not be loaded'), name);
    await page.unroute(`**/${name}`);
    await page.evaluate(() => { document.querySelector('#training').replaceChildren(); });
  }
  await give(page, 'states.csv', states(50));
  await page.waitForSelector('#train-start');
  await context.close();
});

test('the table that was chosen last is offered, whichever is read first', async () => {
  const { context, page, list } = await open();
  const training = () => page.textContent('#training');
  await page.evaluate(() => {
    window.workers = 0;
    window.Worker = new Proxy(Worker, {
      construct(worker, words) {
        window.workers++;
        return new worker(...words);
      },
    });
  });
  for (const late of ['slow.csv', 'gone.csv']) {
    const release = await hold(page);
    await give(page, late, states(50));
    await until(page, (late) => document.querySelector('#training').textContent === `${late}: reading`, late);
    await give(page, 'quick.csv', states(60));
    await page.waitForSelector('#train-start');
    const before = await page.evaluate(() => window.workers);
    await release();
    assert.match(await training(), /^quick\.csv: predict /);
    assert.equal(await page.evaluate(() => window.workers), before);
  }
  // What is wrong with a file is not told of the network.
  await give(page, 'gone.csv', states(50));
  await page.waitForSelector('#training .problem');
  assert.equal(await training(), 'gone.csv: the file could not be read');
  assert.deepEqual(list, []);
  await context.close();
});

test('a defect while a model is trained is told, and the table is freed', async () => {
  const { context, page } = await open({ serviceWorkers: 'block' });
  // What frees it fails too, as it does of a table that a defect leaves in use.
  const counting = `
    self.freed = 0;
    const load = WebAssembly.instantiateStreaming;
    WebAssembly.instantiateStreaming = async (...words) => {
      const { module, instance } = await load(...words);
      const exports = {
        ...instance.exports,
        trainer_features() {
          throw new Error('a defect');
        },
        __wbg_trainer_free() {
          self.freed++;
          throw new Error('still in use');
        },
      };
      return { module, instance: { exports } };
    };`;
  await page.route('**/train-worker.js', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${counting}\n${await response.text()}` });
  });
  await give(page, 'states.csv', states(50));
  await page.waitForSelector('#train-start');
  await page.click('#train-start');
  await until(page, () => document.querySelector('#train-status .problem'));
  assert.equal(await page.textContent('#train-status'), 'a defect');
  const worker = page.workers().find((worker) => worker.url().endsWith('/train-worker.js'));
  assert.equal(await worker.evaluate(() => self.freed), 1);
  await context.close();
});

test('on a phone the models and the letters of their picture are inside', async () => {
  const { context, page, list } = await open({ viewport: { width: 390, height: 844 } });
  await give(page, 'numbers.csv', numbers(400));
  await page.waitForSelector('#train-start');
  await page.click('#train-start');
  await trained(page);
  for (const viewport of [{ width: 390, height: 844 }, { width: 1280, height: 900 }]) {
    await page.setViewportSize(viewport);
    const found = await page.evaluate(() => {
      const svg = document.querySelector('.front svg').getBoundingClientRect();
      const texts = [...document.querySelectorAll('.front text')];
      const boxes = texts.map((text) => text.getBoundingClientRect());
      const table = document.querySelector('.front .results');
      return {
        out: texts.filter((_, i) => boxes[i].left < svg.left || boxes[i].right > svg.right || boxes[i].bottom > svg.bottom).map((text) => text.textContent),
        small: boxes.filter(({ height }) => height < 11).length,
        over: boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2)).length,
        ticks: texts.map((text) => text.textContent).filter((text) => text.endsWith('%')),
        hidden: table.scrollWidth - table.clientWidth + table.scrollHeight - table.clientHeight,
        lines: new Set([...table.querySelectorAll('tbody td')].map((cell) => cell.getBoundingClientRect().height)).size,
      };
    });
    assert.deepEqual({ ...found, ticks: [] }, { out: [], small: 0, over: 0, ticks: [], hidden: 0, lines: 1 });
    // Round numbers, the same distance apart.
    const ticks = found.ticks.map(Number.parseFloat);
    const step = ticks[1] - ticks[0];
    assert.ok(/^[125]0*$/.test((step * 1e4).toFixed(0)), `${ticks}`);
    ticks.forEach((tick, i) => assert.ok(Math.abs(tick - ticks[0] - i * step) < 1e-9, `${ticks}`));
  }
  assert.deepEqual(list, []);
  await context.close();
});

test('tables that cannot be trained on are named, with what is wrong', async () => {
  const { context, page, list } = await open();
  const alert = async (name, text, message) => {
    await give(page, name, text);
    await until(page, (message) => document.querySelector('#training').textContent.includes(message), message);
  };
  await alert('empty.csv', '\n', 'empty.csv: the file is empty');
  await alert('ragged.csv', 'a,b\n1,2\n3\n', 'ragged.csv:3');
  // A browser tells of the same file again only if it was forgotten.
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click('#train-file')]);
  assert.equal(await page.inputValue('#train-file'), '');
  await chooser.setFiles({ name: 'ragged.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n3,4\n') });
  await page.waitForSelector('#train-start');
  for (const [name, start, message] of KINDS) await alert(name, start, `${name}: ${message}`);
  await alert('digits.koan', readFileSync(file(root, 'wasm/page/digits.koan')), 'digits.koan: a koan model: drop it on the panel above');
  const asked = async (name, text, message) => {
    await give(page, name, text);
    await page.waitForSelector('#train-start');
    await page.click('#train-start');
    await until(page, (message) => document.querySelector('#train-status').textContent.includes(message), message);
  };
  // Quotes may hold lines: here the module that trains counts the rows.
  await asked('large.csv', numbers(10_001).replace('a,', '"a",'), 'large.csv: 10001 rows; a browser trains on at most 10000');
  await asked('single.csv', 'a,b\n1,x\n2,x\n3,x\n', 'single.csv');
  await page.screenshot({ path: file(shots, 'train-problem.png'), fullPage: true });
  assert.deepEqual(await accessible(page), []);
  assert.deepEqual(list, []);
  await context.close();
});

const missing = adult && existsSync(adult) ? false : 'DATA names no folder with adult/adult.data.gz';
test('adult’s first 5,000 rows: from the file to a prediction', { skip: missing }, async () => {
  const lines = gunzipSync(readFileSync(adult)).toString().split('\n').filter(Boolean).slice(0, 5000);
  const names =
    'age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,' +
    'capital-gain,capital-loss,hours-per-week,native-country,income';
  for (const [kind, options] of [
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['phone', { viewport: { width: 390, height: 844 } }],
  ]) {
    const { context, page, list } = await open(options);
    const start = performance.now();
    await give(page, 'adult.csv', `${names}\n${lines.join('\n')}\n`);
    await page.waitForSelector('#train-start');
    await page.click('#train-start');
    await trained(page);
    await page.waitForSelector('#results:not([hidden])');
    const seconds = (performance.now() - start) / 1000;
    console.log(`  adult, 5,000 rows, ${kind}: ${seconds.toFixed(1)} s from the file to predictions; ${await page.textContent('#train-result b')}`);
    await page.screenshot({ path: file(shots, `train-adult-${kind}.png`), fullPage: true });
    const [inner, full] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(full <= inner, `the page is ${full} wide in a window of ${inner}`);
    if (kind === 'light') await compared(page);
    assert.deepEqual(await accessible(page), []);
    assert.deepEqual(list, []);
    await context.close();
  }
});
