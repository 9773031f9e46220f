/** The page: a pad that is recognised while it is drawn on, and a table. */

import { reduce } from './digit.js';
import { find } from './dom.js';
import type { Answer, Question } from './messages.js';
import { Pad } from './pad.js';
import { listen, show } from './table.js';
import { offerTraining } from './training.js';

const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
const ask = (question: Question): void => worker.postMessage(question);

const bars = Array.from({ length: 10 }, (_, digit) => {
  const item = document.createElement('li');
  item.innerHTML = `<span>${digit}</span><span class="track"><span class="fill"></span></span><span class="share"></span>`;
  find('#bars').append(item);
  return item;
});

/** At most one drawing is with the Worker; the newest waits. */
let busy = false;
let waiting = false;

const pad = new Pad(find<HTMLCanvasElement>('#pad'), changed);
find('#clear').addEventListener('click', () => pad.clear());
find('#undo').addEventListener('click', () => pad.undo());
const use = listen((blob, text) => ask({ kind: 'table', blob, text }), (file) => train(file));
const train = offerTraining(use);
changed();

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
    showProbabilities(undefined);
  }
}

worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
  switch (data.kind) {
    case 'ready':
      find('#bytes').textContent = `${data.bytes.toLocaleString('en')} bytes`;
      find('#engine').textContent = data.simd ? 'WebAssembly, SIMD' : 'WebAssembly';
      find('#why').textContent =
        `Why it fits: its ${data.features.toLocaleString('en')} random features are not in the file, ` +
        `the page draws them again from a seed; only ${data.outputs} × ` +
        `${data.features.toLocaleString('en')} weights of 2 bits are stored.`;
      break;
    case 'failed':
      find('#answer').textContent = `The model could not be loaded: ${data.message}`;
      break;
    case 'digit':
      busy = false;
      showProbabilities(data.probabilities);
      find('#micros').textContent = `${data.micros.toFixed(1)} µs`;
      if (waiting) requestAnimationFrame(recognise);
      break;
    default:
      show(data);
  }
});

function showProbabilities(probabilities: Float32Array | undefined): void {
  const best = probabilities ? probabilities.indexOf(Math.max(...probabilities)) : -1;
  bars.forEach((item, digit) => {
    const share = probabilities?.[digit] ?? 0;
    item.classList.toggle('best', digit === best);
    find('.fill', item).style.width = `${100 * share}%`;
    find('.share', item).textContent = probabilities ? percent(share) : '';
  });
  const answer = find('#answer');
  if (probabilities) {
    const digit = document.createElement('b');
    digit.textContent = String(best);
    answer.replaceChildren(digit, ` ${percent(probabilities[best]!)} sure`);
  } else {
    answer.textContent = 'Nothing drawn yet';
  }
}

/** At most 99.9 %: nobody is ever quite sure. */
const percent = (share: number): string => `${Math.min(100 * share, 99.9).toFixed(1)} %`;

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
