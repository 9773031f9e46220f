/**
 * Trains models on a table that was dropped on the page, in a Worker: the front of test error
 * against bytes grows while it works. Loaded only when somebody asks for it.
 */

import { find } from './dom.js';
import type { Rows } from './table.js';
import { command, download, element, errorOf } from './train-dom.js';
import { draw } from './train-front.js';
import type { Report, TrainAnswer, TrainQuestion } from './train-messages.js';

/** A trained model. */
export interface Trained {
  blob: Uint8Array;
  report: Report;
  /** Options of the command that makes the same bytes. */
  options: string;
  seconds: number;
}

/** Features of the models; the last is the one that the command makes if it is told nothing else. */
const FEATURES = [32, 64, 128, 256, 512];
/** Bytes of the model that is searched, at most. */
const FLASH = 2048;
/** Bytes of a table, at most. */
const MOST_BYTES = 64 * 1024 * 1024;

let worker: Worker | undefined;

/**
 * Offers to train on a table.
 *
 * @param file the table
 * @param use takes the model that is chosen, and the table
 */
export async function train(file: File, use: (blob: ArrayBuffer, rows: Rows) => void): Promise<void> {
  const place = find('#training');
  stop();
  place.replaceChildren(element('p', { role: 'status' }, `${file.name}: reading`));
  if (file.size > MOST_BYTES) {
    fail(`${file.name}: ${file.size.toLocaleString('en')} bytes; a browser trains on at most ${MOST_BYTES.toLocaleString('en')}`);
    return;
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  const own = start();
  own.addEventListener('message', ({ data }: MessageEvent<TrainAnswer>) => {
    if (own !== worker) return;
    if (data.kind === 'columns') new Training(file.name, data.names, (blob) => use(blob, { name: file.name, text }), { bytes, place });
    else if (data.kind === 'problem') fail(data.message);
  }, { once: true });
  own.postMessage({ kind: 'columns', name: file.name, bytes } satisfies TrainQuestion);
}

function start(): Worker {
  stop();
  worker = new Worker(new URL('./train-worker.js', import.meta.url), { type: 'module' });
  worker.addEventListener('error', (event) => fail(event.message || 'the module that trains could not be loaded'));
  return worker;
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
  readonly #name: string;
  readonly #names: string[];
  readonly #use: (blob: ArrayBuffer) => void;
  readonly #bytes: Uint8Array;
  readonly #target = element('select', { id: 'train-target' });
  readonly #start = element('button', { type: 'button', id: 'train-start' }, 'Train');
  readonly #search = element('button', { type: 'button', id: 'train-search' }, `Search within ${FLASH.toLocaleString('en')} bytes (minutes)`);
  readonly #cancel = element('button', { type: 'button', id: 'train-cancel', hidden: '' }, 'Cancel');
  readonly #status = element('p', { id: 'train-status', role: 'status' });
  readonly #front = element('div', { class: 'front' });
  readonly #chosen = element('div', { id: 'train-chosen' });
  #models: Trained[] = [];
  #current: Trained | undefined;
  /** The target that the models are of. */
  #trained: string | undefined;

  constructor(
    name: string,
    names: string[],
    use: (blob: ArrayBuffer) => void,
    { bytes, place }: { bytes: Uint8Array; place: HTMLElement },
  ) {
    [this.#name, this.#names, this.#use, this.#bytes] = [name, names, use, bytes];
    names.forEach((name, index) => {
      this.#target.append(element('option', { value: String(index) }, name || `column ${index + 1}`));
    });
    this.#target.value = String(names.length - 1);
    const label = element('label', {}, `${name}: predict `);
    label.append(this.#target);
    const controls = element('div', { class: 'controls training-controls' });
    controls.append(label, this.#start, this.#search, this.#cancel);
    place.replaceChildren(controls, this.#status, this.#front, this.#chosen);
    this.#start.addEventListener('click', () => this.#ask({ kind: 'train', target: this.#wanted(), features: FEATURES }));
    this.#search.addEventListener('click', () => this.#ask({ kind: 'search', target: this.#wanted(), flash: FLASH }));
    this.#cancel.addEventListener('click', () => {
      stop();
      this.#end('Cancelled.');
    });
    this.#start.focus();
  }

  /** The target as the command's option has it; the last column is what it takes by itself. */
  #wanted(): string | undefined {
    const index = Number(this.#target.value);
    if (index === this.#names.length - 1) return undefined;
    const name = this.#names[index]!;
    // A number would mean a column's place.
    return name && !/^-?\d+$/.test(name) ? name : String(index + 1);
  }

  #ask(question: Exclude<TrainQuestion, { kind: 'columns' }>): void {
    if (question.target !== this.#trained) this.#models = [];
    this.#trained = question.target;
    const own = worker ?? start();
    own.onmessage = ({ data }: MessageEvent<TrainAnswer>) => {
      if (own === worker) this.#take(data);
    };
    // After a cancellation the Worker is a new one, which must be told of the table again.
    own.postMessage({ kind: 'columns', name: this.#name, bytes: this.#bytes } satisfies TrainQuestion);
    own.postMessage(question);
    this.#busy(true);
    this.#status.textContent = 'Training';
  }

  #take(answer: TrainAnswer): void {
    switch (answer.kind) {
      case 'step':
        this.#status.textContent = `${answer.text}…`;
        break;
      case 'model': {
        this.#models = this.#models.filter(({ options }) => options !== answer.options);
        this.#models.push(answer);
        this.#current = answer;
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
    for (const control of [this.#target, this.#start, this.#search]) control.disabled = busy;
    this.#cancel.hidden = !busy;
  }

  #end(text: string): void {
    this.#busy(false);
    this.#status.textContent = text;
  }

  #draw(): void {
    draw(this.#front, this.#models, this.#current, (model) => this.#choose(model));
  }

  /** Makes a model the page's own. */
  #choose(model: Trained): void {
    this.#current = model;
    this.#draw();
    const { report, seconds } = model;
    const facts = element(
      'p',
      { id: 'train-result' },
      element('b', {}, `${report.bytes.toLocaleString('en')} bytes, ${errorOf(report)}`),
      ` on ${report.rows.toLocaleString('en')} test rows; trained in ${seconds.toFixed(1)} s. ` +
        'Its predictions for all rows, those that it was trained on too, stand in the panel above.',
    );
    const line = command(this.#name, this.#trained, model.options);
    const copy = element('button', { type: 'button' }, 'Copy the command');
    copy.addEventListener('click', () => void navigator.clipboard.writeText(line).then(() => { copy.textContent = 'Copied'; }));
    const save = element('button', { type: 'button', id: 'train-download' }, 'Download the model');
    save.addEventListener('click', () => download('model.koan', model.blob));
    const warnings = (report.warnings ?? []).map((warning) => element('p', { class: 'note' }, warning));
    this.#chosen.replaceChildren(
      facts,
      element('p', { class: 'note' }, 'The same bytes from the command:'),
      element('pre', { id: 'train-command', tabindex: '0' }, line),
      element('div', { class: 'controls training-controls' }, save, copy),
      ...warnings,
    );
    this.#use(new Uint8Array(model.blob).buffer);
  }
}
