/**
 * Trains models on a table that was dropped on the page, in a Worker: the front of test error
 * against bytes grows while it works. Loaded only when somebody asks for it.
 */

import { find } from './dom.js';
import { textOf } from './errors.js';
import { firstRows, isTable, MOST_BYTES, textIn } from './files.js';
import type { Rows } from './table.js';
import { command, download, element, errorOf, nameOf, type Source } from './train-dom.js';
import { draw } from './train-front.js';
import type { Report, TrainAnswer, TrainQuestion } from './train-messages.js';

/** A trained model. */
export interface Trained {
  blob: Uint8Array;
  report: Report;
  /** Options of the command that makes the same model. */
  options: string;
  seconds: number;
  /** The column that it predicts, as the command has it; none is the last one. */
  target: string | undefined;
  /** The columns that are left out, as the command has them. */
  drop: string[];
}

/** Features of the models; the last is the one that the command makes if it is told nothing else. */
const FEATURES = [32, 64, 128, 256, 512];
/** Bytes of the model that is searched, at most. */
const FLASH = 2048;
/** Rows of a table, at most; the module that trains refuses more. */
const MOST_ROWS = 10_000;
/** Takes a model and its table; whether its predictions are shown. */
type Use = (blob: ArrayBuffer, rows: Rows | undefined) => Promise<boolean>;

let worker: Worker | undefined;
/** How many tables were brought: one that is read after another was brought has lost its place. */
let brought = 0;

/**
 * Offers to train on a table.
 *
 * @param file the table
 * @param use takes the model that is chosen, and the table
 */
export async function train(file: File, use: Use): Promise<void> {
  stop();
  const number = ++brought;
  const { name, size } = file;
  find('#training').replaceChildren(element('p', { role: 'status' }, `${name}: reading`));
  if (size > MOST_BYTES) {
    return fail(`${name}: ${size.toLocaleString('en')} bytes; a browser trains on at most ${MOST_BYTES.toLocaleString('en')}`);
  }
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const text = await textIn(bytes);
    if (number === brought) offer({ file: name }, bytes, text, use);
  } catch (error) {
    if (number === brought) fail(`${name}: ${textOf(error)}`);
  }
}

/** Asks for the columns of a table, and then offers what can be done with it. */
function offer(source: Source, bytes: Uint8Array, text: string | undefined, use: Use): void {
  const own = start();
  own.addEventListener('message', ({ data }: MessageEvent<TrainAnswer>) => {
    if (own !== worker) return;
    if (data.kind === 'problem') return fail(data.message);
    if (data.kind !== 'columns') return;
    const { names } = data;
    const first = text === undefined ? undefined : firstRows(text, MOST_ROWS + Number(names.some(Boolean)));
    if (first) return offerFirst(source, first, use);
    const rows = text === undefined || !isTable(text) ? undefined : { name: source.file, text };
    new Training(source, names, bytes, (blob) => use(blob, rows));
  }, { once: true });
  own.postMessage({ kind: 'columns', name: source.file, bytes } satisfies TrainQuestion);
}

/** Says that a table has too many rows, and offers to train on the first ones. */
function offerFirst(source: Source, { text, lines }: { text: string; lines: number }, use: Use): void {
  const most = MOST_ROWS.toLocaleString('en');
  fail(`${source.file}: more than ${most} rows, the most that a browser trains on; the command \`koan train\` takes more.`);
  const first = element('button', { type: 'button', id: 'train-first' }, `Use the first ${most} rows`);
  first.addEventListener('click', () => offer({ ...source, lines }, new TextEncoder().encode(text), text, use));
  find('#training').append(first);
}

function start(): Worker {
  stop();
  const own = new Worker(new URL('./train-worker.js', import.meta.url), { type: 'module' });
  own.addEventListener('error', (event) => {
    if (own === worker) fail(event.message || 'the module that trains could not be loaded');
  });
  worker = own;
  return own;
}

/** Ends what is being trained, at once. */
function stop(): void {
  worker?.terminate();
  worker = undefined;
}

function fail(message: string): void {
  stop();
  find('#training').replaceChildren(element('p', { class: 'problem', role: 'alert' }, message));
}

/** Everything about one table. */
class Training {
  readonly #source: Source;
  readonly #names: string[];
  readonly #use: (blob: ArrayBuffer) => Promise<boolean>;
  readonly #bytes: Uint8Array;
  readonly #target = element('select', { id: 'train-target' });
  readonly #start = element('button', { type: 'button', id: 'train-start' }, 'Train');
  readonly #search = element('button', { type: 'button', id: 'train-search' }, `Search within ${FLASH.toLocaleString('en')} bytes (minutes)`);
  readonly #cancel = element('button', { type: 'button', id: 'train-cancel', hidden: '' }, 'Cancel');
  readonly #dropped = element('p', { id: 'train-dropped', class: 'note' });
  readonly #status = element('p', { id: 'train-status', role: 'status' });
  readonly #front = element('div', { class: 'front' });
  readonly #chosen = element('div', { id: 'train-chosen' });
  #models: Trained[] = [];
  #current: Trained | undefined;
  /** The columns that are left out, from 0. */
  #drop: number[] = [];

  constructor(source: Source, names: string[], bytes: Uint8Array, use: (blob: ArrayBuffer) => Promise<boolean>) {
    [this.#source, this.#names, this.#use, this.#bytes] = [source, names, use, bytes];
    names.forEach((_, index) => {
      this.#target.append(element('option', { value: String(index) }, this.#labelOf(index)));
    });
    this.#target.value = String(names.length - 1);
    const rows = source.lines === undefined ? '' : `, the first ${MOST_ROWS.toLocaleString('en')} rows`;
    const label = element('label', {}, `${source.file}${rows}: predict `);
    label.append(this.#target);
    const controls = element('div', { class: 'controls training-controls' });
    controls.append(label, this.#start, this.#search, this.#cancel);
    find('#training').replaceChildren(controls, this.#dropped, this.#status, this.#front, this.#chosen);
    this.#start.addEventListener('click', () => this.#ask({ kind: 'train', features: FEATURES }));
    this.#search.addEventListener('click', () => this.#ask({ kind: 'search', flash: FLASH }));
    this.#cancel.addEventListener('click', () => {
      stop();
      this.#end('Cancelled.');
    });
    let width = 0;
    new ResizeObserver(([entry]) => {
      const before = width;
      width = entry!.contentRect.width;
      if (before && before !== width) requestAnimationFrame(() => this.#draw());
    }).observe(this.#front);
    this.#start.focus();
  }

  #labelOf(index: number): string {
    return this.#names[index] || `column ${index + 1}`;
  }

  #ask(wanted: { kind: 'train'; features: number[] } | { kind: 'search'; flash: number }): void {
    const index = Number(this.#target.value);
    // The last column is what the command takes by itself.
    const target = index === this.#names.length - 1 ? undefined : nameOf(this.#names, index);
    const of = { target, drop: this.#drop.map((column) => nameOf(this.#names, column)) };
    const same = (model: Trained): boolean => model.target === of.target && model.drop.join() === of.drop.join();
    if (!this.#models.every(same)) this.#clear();
    const own = worker ?? start();
    own.onmessage = ({ data }: MessageEvent<TrainAnswer>) => {
      if (own !== worker) return;
      const { column } = data as { column?: number };
      this.#take(data, of);
      if (column && column - 1 !== index) this.#offerToDrop(column - 1, () => this.#ask(wanted));
    };
    // After a cancellation the Worker is a new one, which must be told of the table again.
    own.postMessage({ kind: 'columns', name: this.#source.file, bytes: this.#bytes } satisfies TrainQuestion);
    own.postMessage({ ...wanted, ...of } satisfies TrainQuestion);
    this.#busy(true);
    this.#status.textContent = 'Training';
  }

  /** Removes models of another target, or of other columns. */
  #clear(): void {
    this.#models = [];
    this.#current = undefined;
    this.#chosen.replaceChildren();
    this.#draw();
  }

  /** Offers to train without a column. */
  #offerToDrop(column: number, again: () => void): void {
    const leave = element('button', { type: 'button', id: 'train-drop-column' }, `Leave \`${this.#labelOf(column)}\` out`);
    leave.addEventListener('click', () => {
      this.#leave([...this.#drop, column]);
      again();
    });
    this.#status.append(' ', leave);
  }

  /** Leaves these columns out from now on, and says so. */
  #leave(drop: number[]): void {
    this.#drop = drop;
    this.#dropped.textContent = '';
    if (drop.length === 0) return;
    const back = element('button', { type: 'button' }, drop.length > 1 ? 'Take them back' : 'Take it back');
    back.addEventListener('click', () => this.#leave([]));
    this.#dropped.append(`Left out: ${drop.map((column) => this.#labelOf(column)).join(', ')} `, back);
  }

  #take(answer: TrainAnswer, of: Pick<Trained, 'target' | 'drop'>): void {
    switch (answer.kind) {
      case 'step':
        this.#status.textContent = `${answer.text}…`;
        break;
      case 'model': {
        this.#models = this.#models.filter(({ options }) => options !== answer.options);
        this.#current = { ...answer, ...of };
        this.#models.push(this.#current);
        this.#draw();
        break;
      }
      case 'done': {
        const { rows, train_rows } = this.#current!.report;
        const count = (rows: number): string => rows.toLocaleString('en');
        this.#end(`Trained on ${count(train_rows)} rows, tested on ${count(rows)} others that training did not see.`);
        this.#choose(this.#current!);
        break;
      }
      case 'problem':
        this.#end('');
        this.#status.replaceChildren(element('span', { class: 'problem' }, answer.message));
        break;
      default:
    }
  }

  #busy(busy: boolean): void {
    const focused = document.activeElement;
    for (const control of [this.#target, this.#start, this.#search]) control.disabled = busy;
    this.#cancel.hidden = !busy;
    // A control that is disabled or hidden loses the focus.
    if (busy && focused !== this.#target) this.#cancel.focus();
    else if (focused === this.#cancel) this.#start.focus();
  }

  #end(text: string): void {
    this.#busy(false);
    this.#status.textContent = text;
  }

  #draw(): void {
    if (this.#models.length > 0) draw(this.#front, this.#models, this.#current, (model) => this.#choose(model));
    else this.#front.replaceChildren();
  }

  /** Makes a model the page's own. */
  #choose(model: Trained): void {
    this.#current = model;
    this.#draw();
    const { report, seconds, target, drop } = model;
    const facts = element(
      'p',
      { id: 'train-result' },
      element('b', {}, `${report.bytes.toLocaleString('en')} bytes, ${errorOf(report)}`),
      ` on ${report.rows.toLocaleString('en')} test rows; trained in ${seconds.toFixed(1)} s.`,
    );
    const line = command(this.#source, target, drop, model.options);
    const copy = element('button', { type: 'button' }, 'Copy the command');
    copy.addEventListener('click', () => void navigator.clipboard.writeText(line).then(() => { copy.textContent = 'Copied'; }));
    const save = element('button', { type: 'button', id: 'train-download' }, 'Download the model');
    save.addEventListener('click', () => download('model.koan', model.blob));
    const warnings = (report.warnings ?? []).map((warning) => element('p', { class: 'note' }, warning));
    this.#chosen.replaceChildren(
      facts,
      element('p', { class: 'note' }, 'The command that trains the same model (on few rows single weights may differ by a unit):'),
      element('pre', { id: 'train-command', tabindex: '0' }, line),
      element('div', { class: 'controls training-controls' }, save, copy),
      ...warnings,
    );
    void this.#use(new Uint8Array(model.blob).buffer).then((shown) => {
      if (shown) facts.append(' Its predictions for all rows, those that it was trained on too, stand in the panel above.');
    });
  }
}
