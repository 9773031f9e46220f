/** All inference of the page, away from its main thread. */

import { readTable, type Table } from '../js/columns.js';
import { hasSimd, Model } from '../js/index.js';
import { textOf } from './errors.js';
import type { Answer, Question, Summary } from './messages.js';
import { describe, windowsOf } from './rows.js';

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
    else if (data.kind === 'model') await take(data.blob, data.name);
    else await predict(data.blob, data.text);
  } catch (error) {
    say({ kind: data.kind === 'start' ? 'failed' : 'problem', message: textOf(error) });
  }
});

async function start(): Promise<void> {
  const [response, other] = await Promise.all([
    fetch(new URL('./digits.koan', import.meta.url)),
    Model.load(new URL('./detector.koan', import.meta.url)),
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
  return { name, bytes, task, features, outputs, classNames, rows: describe(info), draws };
}

async function take(blob: ArrayBuffer, name: string): Promise<void> {
  const model = await Model.load(blob);
  const summary = summaryOf(model, name);
  try {
    if (summary.task === 'features') throw new Error('this model has no outputs: it predicts nothing');
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

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

/** Rows between two reports of the progress. */
const BLOCK = 1000;

async function predict(blob: ArrayBuffer, text: string): Promise<void> {
  using model = await Model.load(blob);
  const { task, inputs, classNames, bytes } = model.info;
  const tell = (doing: string) => (share: number) => say({ kind: 'progress', doing, share });
  const { rows, targets, lines, note } = tableOf(text, model, tell('Reading the table'));
  const predictions: string[] = [];
  const micros: number[] = [];
  const predicting = tell('Predicting');
  for (let at = 0; at < lines.length; at += BLOCK) {
    predicting(at / lines.length);
    const block = rows.subarray(at * inputs, (at + BLOCK) * inputs);
    const start = performance.now();
    const values = task === 'classification' ? model.classifyMany(block) : model.predictMany(block);
    micros.push((1000 * (performance.now() - start)) / values.length);
    for (const value of values) {
      predictions.push(task === 'classification' ? (classNames[value] ?? String(value)) : value.toPrecision(5));
    }
  }
  say({ kind: 'table', task, predictions, targets, lines, bytes, micros: median(micros), note });
}

/** The rows of a table: its lines, or windows over them. */
function tableOf(text: string, { info }: Model, progress: (share: number) => void): Table & { note: string } {
  const windows = windowsOf(info);
  if (!windows) return { ...readTable(text, info, progress), note: '' };
  const { samples, stride, channels } = windows;
  const table = readTable(text, { ...info, inputs: channels }, progress);
  const count = Math.floor((table.lines.length - samples) / stride) + 1;
  if (count < 1) {
    throw new Error(`the table has ${table.lines.length} samples, a window of the model takes ${samples}`);
  }
  const starts = Array.from({ length: count }, (_, window) => window * stride);
  const rows = new Float32Array(count * info.inputs);
  starts.forEach((start, window) => {
    rows.set(table.rows.subarray(start * channels, (start + samples) * channels), window * info.inputs);
  });
  const targets = table.targets;
  return {
    rows,
    targets: targets && starts.map((start) => targetOf(targets.slice(start, start + samples), info.task)),
    lines: starts.map((start) => table.lines[start]!),
    note: `windows of ${samples} samples`,
  };
}

/** The target of a window: the one of most samples, the earliest of equals; a number's mean. */
function targetOf(targets: string[], task: string): string {
  if (task !== 'classification') {
    return String(targets.reduce((sum, target) => sum + Number(target), 0) / targets.length);
  }
  const counts = new Map<string, number>();
  for (const target of targets) counts.set(target, (counts.get(target) ?? 0) + 1);
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
