/** The second panel: a model and a table, dropped or chosen. */

import { find } from './dom.js';
import type { Answer } from './messages.js';

/** Rows that are shown; all are predicted. */
const SHOWN = 500;
/** The first bytes of a model. */
const MAGIC = 'KOAN';

let model: ArrayBuffer | undefined;
let table: string | undefined;
/** The table's file, for training on it. */
let tableFile: File | undefined;

/**
 * @param ask called with a model and a table when both are there
 * @param train called with a table that a model is to be trained on
 * @returns takes a model and a table as if they had been dropped
 */
export function listen(
  ask: (blob: ArrayBuffer, text: string) => void,
  train: (file: File) => void,
): (blob: ArrayBuffer, text: string) => void {
  const drop = find('#drop');
  const take = async (files: Iterable<File>): Promise<void> => {
    problem('');
    for (const file of files) {
      const error = await accept(file);
      if (error) return problem(error);
    }
    if (model && table !== undefined) ask(model, table);
    else problem('', model ? 'Now a table.' : 'Now a model.');
    find('#train-table').hidden = table === undefined || model !== undefined;
  };
  for (const id of ['#model-file', '#table-file']) {
    const input = find<HTMLInputElement>(id);
    input.addEventListener('change', () => void take(input.files ?? []));
  }
  for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle('over', name === 'dragenter' || name === 'dragover');
    });
  }
  drop.addEventListener('drop', (event) => void take(event.dataTransfer?.files ?? []));
  find('#train-table button').addEventListener('click', () => {
    if (tableFile) train(tableFile);
  });
  return (blob, text) => {
    [model, table] = [blob, text];
    find('#train-table').hidden = true;
    ask(blob, text);
  };
}

/** Keeps a file as the model or as the table; what is wrong with it, if anything. */
async function accept(file: File): Promise<string | undefined> {
  const bytes = await file.arrayBuffer();
  const start = new TextDecoder('latin1').decode(bytes.slice(0, 4));
  if (start === MAGIC) {
    model = bytes;
  } else if (/\.koan$/i.test(file.name)) {
    model = undefined;
    return `${file.name}: not a koan blob: it does not start with the bytes KOAN`;
  } else {
    try {
      table = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      if (table.includes('\0')) throw new Error();
      tableFile = file;
    } catch {
      table = undefined;
      return `${file.name}: neither a koan model nor a table of text`;
    }
  }
  return undefined;
}

/** Shows a table's predictions, or what is wrong. */
export function show(answer: Answer): void {
  if (answer.kind === 'problem') {
    problem(answer.message);
    find('#train-table').hidden = table === undefined;
    return;
  }
  if (answer.kind !== 'table') return;
  const { task, predictions, targets, lines } = answer;
  let judged = '';
  if (targets && task === 'classification') {
    const right = predictions.filter((prediction, row) => same(prediction, targets[row]!)).length;
    judged = `, ${((100 * right) / lines.length).toFixed(2)} % right (${right} of ${lines.length})`;
  } else if (targets) {
    const squares = predictions.map((value, row) => (Number(value) - Number(targets[row])) ** 2);
    const error = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / lines.length);
    judged = `, root of the mean squared error ${error.toPrecision(4)}`;
  }
  const more = lines.length > SHOWN ? `; the first ${SHOWN} are shown` : '';
  problem(
    '',
    `${lines.length} rows${judged}; ${answer.bytes.toLocaleString('en')} bytes, ` +
      `${answer.micros.toFixed(1)} µs a row${more}.`,
  );

  const cells = (kind: string, texts: string[]): HTMLTableRowElement => {
    const row = document.createElement('tr');
    for (const text of texts) {
      const cell = document.createElement(kind);
      if (kind === 'th') cell.setAttribute('scope', 'col');
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  };
  const head = ['Line', 'Prediction', ...(targets ? ['Target'] : [])];
  find('#results thead').replaceChildren(cells('th', head));
  const rows = lines.slice(0, SHOWN).map((line, index) => {
    const target = targets?.[index];
    const row = cells('td', [
      String(line),
      predictions[index]!,
      ...(target === undefined ? [] : [target]),
    ]);
    const wrong = task === 'classification' && target !== undefined;
    row.classList.toggle('wrong', wrong && !same(predictions[index]!, target));
    return row;
  });
  find('#results tbody').replaceChildren(...rows);
  find('#results').hidden = false;
}

/** Classes are the same as texts, or as numbers: "1" and "1.0". */
function same(a: string, b: string): boolean {
  return a === b || (a !== '' && b !== '' && Number(a) === Number(b));
}

function problem(message: string, summary = ''): void {
  find('#problem').textContent = message;
  find('#summary').textContent = summary;
  find('#results').hidden = true;
}
