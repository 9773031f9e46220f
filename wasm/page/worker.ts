/** All inference of the page, away from its main thread. */

import { readTable } from '../js/columns.js';
import { hasSimd, Model } from '../js/index.js';
import type { Answer, Question } from './messages.js';

const digits = Model.load(new URL('./digits.koan', import.meta.url));

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  let answer: Answer;
  try {
    answer = await (data.kind === 'digit' ? recognise(data.row) : predict(data.blob, data.text));
  } catch (error) {
    answer = { kind: 'problem', message: error instanceof Error ? error.message : String(error) };
  }
  postMessage(answer);
});

digits.then(
  ({ info: { bytes, features, outputs, classes } }) =>
    postMessage({ kind: 'ready', bytes, features, outputs, classes, simd: hasSimd() } satisfies Answer),
  (error: Error) => postMessage({ kind: 'failed', message: error.message } satisfies Answer),
);

/** Clocks of pages are coarse: the time is that of many predictions. */
const REPEATS = 64;

async function recognise(row: Uint8Array): Promise<Answer> {
  const model = await digits;
  const probabilities = model.probabilities(row);
  const start = performance.now();
  for (let repeat = 0; repeat < REPEATS; repeat++) model.classify(row);
  const micros = (1000 * (performance.now() - start)) / REPEATS;
  return { kind: 'digit', probabilities, micros };
}

async function predict(blob: ArrayBuffer, text: string): Promise<Answer> {
  using model = await Model.load(blob);
  const { task, classNames, bytes } = model.info;
  if (task === 'features') throw new Error('this model has no outputs: it predicts nothing');
  model.selfTest();
  const { rows, targets, lines } = readTable(text, model.info);
  const run = () => (task === 'classification' ? model.classifyMany(rows) : model.predictMany(rows));
  // The first run also pays for compiling; the second one is timed.
  const values = run();
  const start = performance.now();
  run();
  const micros = (1000 * (performance.now() - start)) / lines.length;
  const predictions =
    task === 'classification'
      ? Array.from(values, (value) => classNames[value] ?? String(value))
      : Array.from(values, (value) => value.toPrecision(5));
  return { kind: 'table', task, predictions, targets, lines, bytes, micros };
}
