// What the page says of its model and of others, from the files that have it: nothing of it is
// typed into the page.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const number = (value) => value.toLocaleString('en');

/** The demo's best model, by the table in the README that `cargo xtask docs` writes. */
function demo() {
  const readme = readFileSync(at('../README.md'), 'utf8');
  const [, block] = /<!-- demo -->([^]*?)<!-- end -->/.exec(readme) ?? [];
  const [, tested] = /tests on ([\d,]+) others/.exec(readme) ?? [];
  const lines = (block ?? '').split('\n').map((line) => line.trim().split(/\s{2,}/));
  const rows = lines.filter((cells) => cells.length === 8 && cells[6].endsWith('%'));
  if (rows.length === 0 || !tested) throw new Error('README.md: the demo has no table, or no number of test images');
  const errorOf = (cells) => Number.parseFloat(cells[6]);
  const best = rows.reduce((a, b) => (errorOf(b) < errorOf(a) ? b : a));
  return { family: best[1], bytes: Number(best[5]), error: best[6], tested };
}

/** The families by their codes (docs/format.md). */
const FAMILIES = ['linear', 'fourier', 'stump', 'bin', 'maxout', 'sigmoid', 'conv', 'fern', 'series'];
/** Where the first bank's kind lies in a model with one map for all inputs. */
const KIND = 25;

/** The lines that install the package, which are its README's first. */
function install() {
  const [, block] = /```sh\n([^]*?)```/.exec(readFileSync(at('README.md'), 'utf8')) ?? [];
  if (!block?.includes('npm install')) throw new Error('wasm/README.md: its first shell lines install nothing');
  return block.trimEnd();
}

/** Lines of the package's first example, up to the prediction. */
function code() {
  const [, block] = /```js\n([^]*?)```/.exec(readFileSync(at('README.md'), 'utf8')) ?? [];
  const lines = (block ?? '').trimEnd().split('\n');
  const last = lines.findIndex((line) => line.includes('.classify('));
  if (last < 0) throw new Error('wasm/README.md: its first example classifies nothing');
  return lines.slice(0, last + 1).join('\n');
}

const megabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;

/** What the page loads, gzipped, beside the other runtime: at first, and when somebody trains. */
export function loads(bytes, training) {
  const { gzip } = JSON.parse(readFileSync(at('page/others.json'), 'utf8'));
  return {
    loadText: `${Math.round(bytes / 2 ** 10)} KB`,
    loadShare: `${((100 * bytes) / gzip).toFixed(1)}%`,
    trainText: megabytes(training),
  };
}

/** What the places in the page's text hold. */
export function facts(address) {
  const blob = readFileSync(at('page/digits.koan'));
  const found = demo();
  if (blob.length !== found.bytes || FAMILIES[blob[KIND] & 15] !== found.family) {
    throw new Error(
      `page/digits.koan is ${blob.length} bytes of the family ${FAMILIES[blob[KIND] & 15]}, the best of the ` +
        `README's demo ${found.bytes} of ${found.family}: \`cargo koan demo -o wasm/page/digits.koan\``,
    );
  }
  const { name, version, files, gzip, date } = JSON.parse(readFileSync(at('page/others.json'), 'utf8'));
  return {
    address,
    bytes: number(blob.length),
    error: found.error.replace(' ', ' '),
    testRows: found.tested,
    detectorBytes: number(readFileSync(at('page/detector.koan')).length),
    description: `Draw a digit: a model of ${number(blob.length)} bytes recognises it in your browser.`,
    otherName: name,
    otherVersion: version,
    otherFiles: `${files.slice(0, -1).join(', ')} and ${files.at(-1)}`,
    otherDate: date,
    otherText: megabytes(gzip),
    install: install(),
    code: code(),
  };
}

/** A text with the facts in their places, `{{name}}`. */
export function filled(text, values) {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name) => {
    if (values[name] === undefined) throw new Error(`the page asks for ${name}, which is not there`);
    return values[name].replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
  });
}
