/** What the model in use is: its bytes as a picture, links and codes that carry it. */

import { find } from './dom.js';
import { decimalLinkTo, linkTo, LONGEST } from './link.js';
import type { Summary } from './messages.js';

/** Pixels of a byte's cell, the gap behind it included. */
const CELL = 7;
const ACROSS = 90;
/** Where a model's seed lies (docs/format.md). */
const SEED = { start: 9, end: 17 };

let shown: Uint8Array | undefined;

/** The page's address, without what a link carries. */
const address = (): string => location.href.replace(/#.*$/s, '');

/** Shows a model: the page's own, of which more is known, or another. */
export function show(blob: Uint8Array, summary: Summary, own: boolean): void {
  shown = blob;
  const { name, draws } = summary;
  find('#proof-what').textContent = own ? 'This whole model' : name.replace(/^t/, 'T');
  find('#other-note').textContent = draws
    ? 'The pad above runs it, too.'
    : 'It runs on the rows below; the pad above runs the one that it had.';
  if (!own) find('#code').textContent = codeOf(summary);
  const bytes = blob.length.toLocaleString('en');
  find('#proof-bytes').textContent = bytes;
  for (const id of ['#own', '#why']) find(id).hidden = !own;
  find('#other').hidden = own;
  const download = find<HTMLAnchorElement>('#download');
  URL.revokeObjectURL(download.href);
  download.href = URL.createObjectURL(new Blob([blob as BlobPart]));
  drawBytes();
  const fits = blob.length <= LONGEST;
  const copy = find<HTMLButtonElement>('#copy-link');
  copy.disabled = !fits;
  const length = linkTo(address(), blob).length.toLocaleString('en');
  find('#link-length').textContent = fits
    ? `${length} characters, the model included`
    : `${bytes} bytes are more than a link may carry (${LONGEST.toLocaleString('en')})`;
  find('#qr-box').hidden = true;
  find('#qr-open').setAttribute('aria-expanded', 'false');
}

/** What a page of one's own does with a model. */
function codeOf({ name, task, outputs, sample }: Summary): string {
  const raw = !sample.startsWith('new');
  const path = `./${name.endsWith('.koan') ? name : 'model.koan'}`;
  const file = /['\\]/.test(path) ? JSON.stringify(path) : `'${path}'`;
  const value = outputs > 1 ? 'values = model.values' : 'value = model.predict';
  return [
    `import { Model } from 'koan-wasm';`,
    ...(raw ? [`import { Columns } from 'koan-wasm/columns';`] : []),
    '',
    `const file = new URL(${file}, import.meta.url);`,
    `const model = await Model.load(file${raw ? ', { columns: Columns }' : ''});`,
    `const row = ${sample};`,
    `const ${task === 'classification' ? 'label = model.predictLabel' : value}(row);`,
  ].join('\n');
}

/** Listens to the buttons, and redraws when the colours change. */
export function listen(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawBytes);
  find('#copy-link').addEventListener('click', () => {
    if (shown) void copy(linkTo(address(), shown), '#link-copied');
  });
  for (const button of document.querySelectorAll<HTMLElement>('[data-copy]')) {
    button.addEventListener('click', () => {
      void copy(find(button.dataset['copy']!).textContent.trim(), '#code-copied');
    });
  }
  find('#qr-open').addEventListener('click', () => void toggleCode());
}

/** Copies a text; where the browser forbids it, it is shown to be copied by hand. */
async function copy(text: string, said: string): Promise<void> {
  const status = find(said);
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = 'Copied.';
  } catch {
    const field = document.createElement('textarea');
    field.readOnly = true;
    field.value = text;
    field.setAttribute('aria-label', 'The text to copy');
    status.replaceChildren('The browser does not let the page copy; here it is: ', field);
    field.select();
  }
}

async function toggleCode(): Promise<void> {
  const [box, button] = [find('#qr-box'), find('#qr-open')];
  box.hidden = !box.hidden;
  button.setAttribute('aria-expanded', String(!box.hidden));
  if (box.hidden || !shown) return;
  const canvas = find<HTMLCanvasElement>('#qr');
  const note = find('#qr-note');
  try {
    const { draw } = await import('./qr.js');
    draw(canvas, decimalLinkTo(address(), shown));
    canvas.hidden = false;
    note.textContent =
      'The model itself is in this code, as a link to this page with the model in it: ' +
      'point a phone at it, from close by, and the phone runs the model.';
  } catch {
    canvas.hidden = true;
    note.textContent =
      `${shown.length.toLocaleString('en')} bytes do not fit a QR code, which holds about 2,800: copy the link.`;
  }
}

/** A cell for each byte, the fuller the higher; those of the seed in another colour. */
function drawBytes(): void {
  const canvas = find<HTMLCanvasElement>('#cells');
  const context = canvas.getContext('2d');
  if (!context || !shown) return;
  canvas.width = ACROSS * CELL;
  canvas.height = Math.ceil(shown.length / ACROSS) * CELL;
  canvas.setAttribute('aria-label', `The ${shown.length} bytes of the model, one cell for each`);
  const style = getComputedStyle(canvas);
  shown.forEach((byte, at) => {
    const seed = at >= SEED.start && at < SEED.end;
    context.fillStyle = style.getPropertyValue(seed ? '--seed' : '--accent');
    context.globalAlpha = seed ? 1 : 0.08 + (0.92 * byte) / 255;
    context.fillRect((at % ACROSS) * CELL, Math.floor(at / ACROSS) * CELL, CELL - 1, CELL - 1);
  });
  context.globalAlpha = 1;
}
