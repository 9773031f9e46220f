/** The predictions of a table, beside its targets. */

import { find } from './dom.js';
import type { Answer } from './messages.js';

/** Rows that are shown; all are predicted. */
const SHOWN = 500;

/** Shows a table's predictions. */
export function show(answer: Extract<Answer, { kind: 'table' }>): void {
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
  const note = answer.note && ` (${answer.note})`;
  find('#summary').textContent =
    `${lines.length} rows${note}${judged}; ${answer.bytes.toLocaleString('en')} bytes, ` +
    `${answer.micros.toFixed(1)} µs a row (median)${more}.`;

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
