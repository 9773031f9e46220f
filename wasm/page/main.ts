/** The page: a pad that is recognised while it is drawn on, the model, and a table. */

import * as answer from './answer.js';
import { DIGIT, TIME } from './demo.js';
import { reduce } from './digit.js';
import { find } from './dom.js';
import { textOf } from './errors.js';
import { modelIn } from './link.js';
import type { Answer, Question, Summary } from './messages.js';
import { Pad } from './pad.js';
import * as proof from './proof.js';
import * as table from './table.js';
import { offerTraining } from './training.js';

find('#dead').remove();
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
const ask = (question: Question): void => worker.postMessage(question);

let names: readonly string[] = Array.from({ length: 10 }, (_, digit) => String(digit));
/** At most one drawing is with the Worker; the newest waits. */
let busy = true;
let waiting = false;
/** What is called with the Worker's word about a model, the first asked first. */
const asked: ((answer: Answer) => void)[] = [];

const pad = new Pad(find<HTMLCanvasElement>('#pad'), changed);
find('#clear').addEventListener('click', () => pad.clear());
find('#undo').addEventListener('click', () => pad.undo());
proof.listen();
table.listen(bring, offerTraining(take));
answer.clear(names);
ask({ kind: 'start' });
addEventListener('hashchange', () => void follow());

function changed(): void {
  waiting = true;
  if (!busy) requestAnimationFrame(recognise);
}

function recognise(): void {
  if (busy || !waiting) return;
  waiting = false;
  const row = reduce(pad.strokes);
  showSeen(row);
  if (row) {
    busy = true;
    ask({ kind: 'digit', row });
  } else {
    answer.clear(names);
  }
}

worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
  switch (data.kind) {
    case 'ready':
      proof.show(new Uint8Array(data.blob), data.summary, true);
      showModel(data.summary);
      explain(data.summary);
      find('#engine').textContent = data.simd ? 'WebAssembly, SIMD' : 'WebAssembly';
      busy = false;
      changed();
      void open();
      break;
    case 'failed':
      find('#answer').textContent = `The model could not be loaded: ${data.message}`;
      break;
    case 'digit':
      busy = false;
      // Cleared meanwhile: nothing is drawn, and nothing is shown.
      if (pad.strokes.length) answer.show(data.names, data.probabilities, data.likeness);
      find('#micros').textContent = `${data.micros.toFixed(1)} µs`;
      if (waiting) requestAnimationFrame(recognise);
      break;
    default:
      // A drawing that has no answer: the next one may.
      if (asked.length === 0) busy = false;
      asked.shift()?.(data);
  }
});

/** What is in use for drawings. */
function showModel({ bytes, classNames }: Summary): void {
  names = classNames;
  find('#bytes').textContent = `${bytes.toLocaleString('en')} bytes`;
}

/** Why the page's own model is so small. */
function explain({ features, outputs }: Summary): void {
  const count = features.toLocaleString('en');
  find('#why').textContent =
    `Why it fits: its ${count} random features are not in the file, the page draws them ` +
    `again from a seed; only ${outputs} × ${count} small weights are stored.`;
}

/** The model of the link, if it carries one, and then a digit that draws itself. */
async function open(): Promise<void> {
  await follow();
  const live = find('#answer');
  live.setAttribute('aria-live', 'off');
  pad.play(DIGIT, TIME, () => live.setAttribute('aria-live', 'polite'));
}

/** Takes the model that the address carries; if it is none, nothing changes. */
async function follow(): Promise<void> {
  const note = find('#link-note');
  note.className = 'link-note';
  note.textContent = '';
  try {
    const blob = modelIn(location.hash);
    if (!blob) return;
    const summary = await bring(blob.buffer, 'the model of the link');
    table.use(blob.buffer, summary).catch((error: unknown) => table.say(textOf(error)));
    note.textContent =
      `The link carries a model of ${summary.bytes.toLocaleString('en')} bytes: ` +
      (summary.draws ? 'it recognises what you draw here.' : 'it runs below, on the rows that you give it.');
  } catch (error) {
    note.classList.add('problem');
    note.textContent = `The link's model cannot be used: ${textOf(error)}. This page runs the model it had.`;
  }
}

/** Takes a model that was trained on the page, and its table; whether its predictions are shown. */
async function take(blob: ArrayBuffer, rows: table.Rows | undefined): Promise<boolean> {
  try {
    const shown = await table.use(blob, await bring(blob, 'the trained model'), rows);
    return shown && rows !== undefined;
  } catch (error) {
    table.say(`The trained model cannot be used: ${textOf(error)}`);
    return false;
  }
}

/** Has the Worker look at a model; it is then the one that the page shows. */
async function bring(blob: ArrayBuffer, name: string): Promise<Summary> {
  ask({ kind: 'model', blob, name });
  const found = await new Promise<Answer>((resolve) => asked.push(resolve));
  if (found.kind !== 'model') throw new Error(found.kind === 'problem' ? found.message : 'no answer');
  const { summary } = found;
  proof.show(new Uint8Array(blob), summary, false);
  if (summary.draws) {
    showModel(summary);
    answer.clear(names);
    changed();
  }
  return summary;
}

function showSeen(row: Uint8Array | undefined): void {
  const canvas = find<HTMLCanvasElement>('#seen');
  const context = canvas.getContext('2d');
  if (!context) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = getComputedStyle(canvas).getPropertyValue('--ink');
  row?.forEach((count, index) => {
    context.globalAlpha = count / 16;
    context.fillRect(8 * (index % 8), 8 * Math.floor(index / 8), 8, 8);
  });
  context.globalAlpha = 1;
}

if ('serviceWorker' in navigator) {
  navigator.serviceWorker.register(new URL('./service.js', import.meta.url)).catch(() => {
    // Without it (a private window, plain http) the page works, but not offline.
  });
}
