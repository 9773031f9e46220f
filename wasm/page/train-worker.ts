/** Trains, away from the page's main thread. It is ended to cancel what it does. */

import init, { columns, type Model, Trainer } from '../build/train.js';
import { textOf } from './errors.js';
import type { TrainAnswer, TrainQuestion } from './train-messages.js';

const ready = init({ module_or_path: new URL('./train.wasm', import.meta.url) }).catch((error: unknown) => {
  throw new Error(`the module that trains could not be loaded: ${textOf(error)}`);
});
const tell = (answer: TrainAnswer): void => postMessage(answer);
const step = (text: string): void => tell({ kind: 'step', text });

let table: { name: string; bytes: Uint8Array } | undefined;

addEventListener('message', async ({ data }: MessageEvent<TrainQuestion>) => {
  try {
    await ready;
    answer(data);
  } catch (error) {
    tell({ kind: 'problem', message: textOf(error), column: (error as { column?: number }).column });
  }
});

function answer(question: TrainQuestion): void {
  if (question.kind === 'columns') {
    const { name, bytes } = question;
    const names = JSON.parse(columns(name, bytes));
    table = { name, bytes };
    tell({ kind: 'columns', names });
    return;
  }
  if (!table) throw new Error('there is no table to train on');
  step('reading');
  const trainer = new Trainer(table.name, table.bytes, JSON.stringify({ target: question.target, drop: question.drop }));
  try {
    if (question.kind === 'search') {
      give(`--flash ${question.flash}`, () => trainer.search(question.flash, step));
    } else {
      for (const count of question.features) {
        give(`--features ${count}`, () => trainer.features(count, (text: string) => step(`${count} features: ${text}`)));
      }
    }
  } finally {
    free(trainer);
  }
  tell({ kind: 'done' });
}

/** Frees the table's memory. */
function free(trainer: Trainer): void {
  try {
    trainer.free();
  } catch {
    // After a defect it is still in use: what is told is the defect, not this.
  }
}

/** Trains a model and hands it over, with the command's options that make the same one. */
function give(options: string, train: () => Model): void {
  const start = performance.now();
  const model = train();
  const { blob } = model;
  const report = JSON.parse(model.report);
  model.free();
  tell({ kind: 'model', blob, report, options, seconds: (performance.now() - start) / 1000 });
}
