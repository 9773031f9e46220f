/** The inference of drawings, and a look at models, away from the page's main thread. */

import { hasSimd, init, Model } from '../js/index.js';
import { textOf } from './errors.js';
import type { Answer, Question, Summary } from './messages.js';
import { median } from './median.js';
import { describe, sampleOf } from './rows.js';

const say = (answer: Answer): void => postMessage(answer);

/** What recognises drawings, and the times of its last predictions in µs. */
let recogniser: Model | undefined;
let times: number[] = [];
/** Tells digits from what is none. */
let detector: Model | undefined;

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  try {
    if (data.kind === 'start') await start();
    else if (data.kind === 'digit') recognise(data.row);
    else await take(data.blob, data.name);
  } catch (error) {
    say({ kind: data.kind === 'start' ? 'failed' : 'problem', message: textOf(error) });
  }
});

async function start(): Promise<void> {
  const [response, other] = await Promise.all([
    fetch(new URL('./digits.koan', import.meta.url)),
    Model.load(new URL('./detector.koan', import.meta.url)),
    // One runtime for both: each has a family that the other's smaller one leaves out.
    init(),
  ]);
  if (!response.ok) throw new Error(`digits.koan: the server says ${response.status}`);
  const blob = await response.arrayBuffer();
  const model = await Model.load(blob);
  detector = other;
  // A link may have brought another meanwhile.
  recogniser ??= model;
  say({ kind: 'ready', blob, summary: summaryOf(model, 'digits.koan'), simd: hasSimd() });
}

function summaryOf({ info }: Model, name: string): Summary {
  const { bytes, task, features, outputs, classNames } = info;
  // Its classes are digits, and its inputs the 8 × 8 pixels of a drawing.
  const digits = classNames.length > 1 && classNames.every((text) => /^\d$/.test(text));
  const draws = task === 'classification' && info.inputs === 64 && digits;
  return { name, bytes, task, features, outputs, classNames, rows: describe(info), sample: sampleOf(info), draws };
}

/** The most work of a self test: a quarter of a minute or so. */
const MOST_WORK = 2 ** 34;

async function take(blob: ArrayBuffer, name: string): Promise<void> {
  const model = await Model.load(blob);
  const summary = summaryOf(model, name);
  try {
    if (summary.task === 'features') throw new Error('this model has no outputs: it predicts nothing');
    // A link may bring any model: this is the most rows that its self test may run.
    const rows = 4 + blob.byteLength / 4 / (model.info.inputs + model.info.outputs);
    if (model.work * rows > MOST_WORK) throw new Error('the self test of this model may take too long');
    model.selfTest();
  } catch (error) {
    model.free();
    throw error;
  }
  if (summary.draws) {
    recogniser?.free();
    recogniser = model;
    times = [];
  } else {
    model.free();
  }
  say({ kind: 'model', blob, summary });
}

/** Clocks of pages are coarse: a time is that of many predictions. */
const REPEATS = 32;
/** Times that a median is taken of. */
const KEPT = 101;

function recognise(row: Uint8Array): void {
  if (!recogniser || !detector) throw new Error('the model is not loaded yet');
  const probabilities = recogniser.probabilities(row);
  const start = performance.now();
  for (let repeat = 0; repeat < REPEATS; repeat++) recogniser.classify(row);
  times = [...times.slice(1 - KEPT), (1000 * (performance.now() - start)) / REPEATS];
  const likeness = detector.values(row)[0]!;
  const names = recogniser.info.classNames;
  say({ kind: 'digit', names, probabilities, likeness, micros: median(times) });
}
