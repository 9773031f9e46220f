/** The panel of a model and a table of one's own, dropped, chosen or typed. */

import { find, takeFiles } from './dom.js';
import { textOf } from './errors.js';
import type { Summary, TableAnswer, TableQuestion } from './messages.js';
import { show } from './predictions.js';

/** The first bytes of a model. */
const MAGIC = 'KOAN';

/** A table's name and text. */
export interface Rows {
  name: string;
  text: string;
}

/** What is in use: the model, and the table that it predicts or that waits for one. */
let model: ArrayBuffer | undefined;
let table: Rows | undefined;
/** The table's file, for training on it. */
let file: File | undefined;
/** How many times files or rows were brought, and when those came that are in use or were refused. */
let count = 0;
const newest = { model: 0, table: 0 };
/** The Worker of this panel: the pad's own is free for drawings meanwhile. */
let worker: Worker | undefined;
/** What stops the run that is under way. */
let stop: (() => void) | undefined;

type Bring = (blob: ArrayBuffer, name: string) => Promise<Summary>;

/**
 * @param bring has a model looked at, and fails with what is wrong with it
 * @param train called with a table that a model is to be trained on
 */
export function listen(bring: Bring, train: (file: File) => void): void {
  const take = async (files: File[], asModel: boolean): Promise<void> => {
    say('');
    const number = ++count;
    for (const file of files) {
      const kind = asModel || /\.koan$/i.test(file.name) ? 'model' : 'table';
      try {
        await accept(file, number, kind, bring);
      } catch (error) {
        if (isOld(kind, number)) continue;
        return say(`${file.name}: ${textOf(error)}${model || table ? '. Nothing is changed.' : ''}`);
      }
    }
  };
  takeFiles('#drop', (files, input) => void take(files, input === 'model-file'));
  // Dropped beside it, a file would take the page's place.
  for (const name of ['dragover', 'drop'] as const) {
    document.addEventListener(name, (event) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
  }
  find('#typed-run').addEventListener('click', () => {
    say('');
    file = undefined;
    isOld('table', ++count);
    const rows = { name: 'the typed rows', text: find<HTMLTextAreaElement>('#typed').value };
    run(rows).catch((error: unknown) => say(textOf(error)));
  });
  find('#train-table button').addEventListener('click', () => {
    if (file) train(file);
  });
}

/**
 * Whether another model, or another table, was brought after the one of this number: what is read
 * late does not take its place.
 */
function isOld(kind: keyof typeof newest, number: number): boolean {
  if (number < newest[kind]) return true;
  newest[kind] = number;
  return false;
}

/** Takes a file as the model or as a table, and predicts if both are there. */
async function accept(taken: File, number: number, kind: keyof typeof newest, bring: Bring): Promise<void> {
  const bytes = await taken.arrayBuffer();
  const start = new TextDecoder('latin1').decode(bytes.slice(0, 4));
  if (isOld(start === MAGIC ? 'model' : kind, number)) return;
  if (start === MAGIC) {
    await use(bytes, await bring(bytes, taken.name));
  } else if (kind === 'model') {
    throw new Error('not a koan blob: it does not start with the bytes KOAN');
  } else {
    const { tableIn } = await import('./files.js');
    const text = await tableIn(new Uint8Array(bytes));
    if (isOld(kind, number)) return;
    file = taken;
    await run({ name: taken.name, text });
  }
}

/**
 * Takes a model that was looked at, and predicts if a table is there.
 *
 * @param own a table that comes with it
 * @returns whether predictions are shown
 */
export async function use(blob: ArrayBuffer, summary: Summary, own?: Rows): Promise<boolean> {
  const { name, bytes, task, classNames, rows } = summary;
  model = blob;
  table = own ?? table;
  const classes = task === 'classification' ? ` of the classes ${classNames.join(', ')}` : '';
  find('#model-note').textContent = `${name}: ${bytes.toLocaleString('en')} bytes, ${task}${classes}. ${rows}`;
  if (table) return run(table, true);
  say('', 'Now a table.');
  return false;
}

/**
 * Predicts a table with the model. One that does not suit it changes nothing.
 *
 * @param other whether the model is another than before
 * @returns whether its predictions are shown
 */
async function run(wanted: Rows, other = false): Promise<boolean> {
  offer(!model);
  if (!model) {
    table = wanted;
    say('', 'Now a model.');
    return false;
  }
  stop?.();
  if (other) {
    // They were another model's.
    find('#results').hidden = true;
    say('', '');
  }
  const answer = await predicted({ blob: model, text: wanted.text });
  // Another run has taken the place of this one.
  if (!answer) return false;
  say('');
  if (answer.kind === 'table') {
    table = wanted;
    show(wanted.name, answer);
    return true;
  }
  offer(true);
  const kept = table && !other && !find('#results').hidden ? ` The predictions are still those of ${table.name}.` : '';
  if (answer.kind === 'problem') say(`${wanted.name}: ${answer.message}.${kept}`);
  return false;
}

/** The Worker's answer, with the progress shown until it is there. */
async function predicted(question: TableQuestion): Promise<TableAnswer | undefined> {
  worker ??= new Worker(new URL('./table-worker.js', import.meta.url), { type: 'module' });
  const own = worker;
  const [box, bar] = [find('#progress'), find<HTMLProgressElement>('#progress progress')];
  return new Promise((resolve) => {
    stop = () => {
      own.terminate();
      worker = undefined;
      resolve(undefined);
    };
    own.onmessage = ({ data }: MessageEvent<TableAnswer>) => {
      if (data.kind === 'progress') {
        box.hidden = false;
        bar.value = data.share;
        find('span', box).textContent = `${data.doing}, ${Math.round(100 * data.share)} %`;
        return;
      }
      stop = undefined;
      box.hidden = true;
      resolve(data);
    };
    own.onerror = (event) => {
      stop?.();
      box.hidden = true;
      say(event.message || 'the engine could not be loaded');
    };
    own.postMessage(question);
  });
}

/** Offers to train a model on the file that the table came from, or no more. */
function offer(shown: boolean): void {
  find('#train-table').hidden = !shown || !file;
}

/** What is wrong, or what comes next. */
export function say(problem: string, summary?: string): void {
  find('#problem').textContent = problem;
  if (summary !== undefined) find('#summary').textContent = summary;
}
