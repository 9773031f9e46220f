/** Predicts tables, in a Worker of their own: loaded when there is a table. */

import { readTable, type ColumnInfo, type Table } from '../js/columns.js';
import { numberOf, shortest } from '../js/fields.js';
import { Model } from '../js/index.js';
import { textOf } from './errors.js';
import { judge } from './judge.js';
import { median } from './median.js';
import type { TableAnswer, TableQuestion } from './messages.js';
import { notesOf, windowsOf } from './rows.js';

const say = (answer: TableAnswer): void => postMessage(answer);

/** Rows between two reports of the progress. */
const BLOCK = 1000;

addEventListener('message', async ({ data }: MessageEvent<TableQuestion>) => {
  try {
    await predict(data);
  } catch (error) {
    say({ kind: 'problem', message: textOf(error) });
  }
});

async function predict({ blob, text }: TableQuestion): Promise<void> {
  using model = await Model.load(blob);
  const { task, inputs, outputs, classNames, bytes } = model.info;
  const classes = task === 'classification';
  const tell = (doing: string) => (share: number) => say({ kind: 'progress', doing, share });
  const { rows, targets, lines, note } = tableOf(text, model, tell('Reading the table'));
  const predictions: string[] = [];
  const micros: number[] = [];
  const predicting = tell('Predicting');
  for (let at = 0; at < lines.length; at += BLOCK) {
    predicting(at / lines.length);
    const block = rows.subarray(at * inputs, (at + BLOCK) * inputs);
    const start = performance.now();
    const values = classes ? model.classifyMany(block) : model.valuesMany(block);
    micros.push((1000 * inputs * (performance.now() - start)) / block.length);
    const texts = Array.from(values, (value) => (classes ? (classNames[value] ?? String(value)) : shortest(value)));
    const each = classes ? 1 : outputs;
    for (let row = 0; row < texts.length; row += each) predictions.push(texts.slice(row, row + each).join(', '));
  }
  // Several values are no prediction of the target.
  const judges = targets && (classes || outputs === 1);
  const judged = judges ? judge(task, predictions, targets, notesOf(model.info).positive) : undefined;
  say({ kind: 'table', predictions, targets, judged, lines, bytes, micros: median(micros), note });
}

/** The rows of a table: its lines, or windows over them. */
function tableOf(text: string, { info }: Model, progress: (share: number) => void): Omit<Table, 'groups'> & { note: string } {
  const windows = windowsOf(info);
  if (!windows) return read(text, info, progress);
  const { samples, stride, channels } = windows;
  const { note, ...table } = read(text, { ...info, inputs: channels }, progress);
  const starts: number[] = [];
  let first = 0;
  table.lines.forEach((_, row) => {
    // A window is of one recording.
    if (table.groups && table.groups[row] !== table.groups[first]) first = row;
    const start = row + 1 - samples;
    if (start >= first && (start - first) % stride === 0) starts.push(start);
  });
  if (!starts.length) {
    throw new Error(`the table has ${table.lines.length} samples, a window of the model takes ${samples}`);
  }
  const rows = new Float32Array(starts.length * info.inputs);
  starts.forEach((start, window) => {
    rows.set(table.rows.subarray(start * channels, (start + samples) * channels), window * info.inputs);
  });
  const targets = table.targets;
  return {
    rows,
    targets: targets && starts.map((start) => targetOf(targets.slice(start, start + samples), info.task)),
    lines: starts.map((start) => table.lines[start]!),
    note: [`windows of ${samples} samples`, note].filter(Boolean).join('; '),
  };
}

/** A table, and a note of the first text in it that training did not have. */
function read(text: string, info: ColumnInfo, progress: (share: number) => void): Table & { note: string } {
  try {
    return { ...readTable(text, info, { progress }), note: '' };
  } catch (error) {
    // What else is wrong with it is so again.
    const table = readTable(text, info, { unknown: 'zeros', progress });
    return { ...table, note: `${textOf(error)}, and taken as none of them` };
  }
}

/**
 * The target of a window: the one of most samples that have one, the earliest of equals; a number's
 * mean.
 */
function targetOf(all: string[], task: string): string {
  const targets = all.filter((target) => numberOf(target) !== undefined);
  if (targets.length === 0) return '';
  if (task !== 'classification') {
    return String(targets.reduce((sum, target) => sum + Number(target), 0) / targets.length);
  }
  const counts = new Map<string, number>();
  for (const target of targets) counts.set(target, (counts.get(target) ?? 0) + 1);
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
