/** The predictions of a table, beside its targets. */

import { find } from './dom.js';
import type { TableAnswer } from './messages.js';

/** Rows that are shown; all are predicted. */
const SHOWN = 500;

/** Shows a table's predictions. */
export function show(name: string, answer: Extract<TableAnswer, { kind: 'table' }>): void {
  const { predictions, targets, judged, lines } = answer;
  const more = lines.length > SHOWN ? `; the first ${SHOWN} are shown` : '';
  const note = answer.note && ` (${answer.note})`;
  find('#summary').textContent =
    `${name}: ${lines.length} rows${note}${judged?.figures ?? ''}; ${answer.bytes.toLocaleString('en')} bytes, ` +
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
    row.classList.toggle('wrong', judged?.wrong[index] ?? false);
    return row;
  });
  find('#results tbody').replaceChildren(...rows);
  find('#results').hidden = false;
}
