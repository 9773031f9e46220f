/** How predictions compare with the targets that stand beside them. */

import { numberOf } from '../js/fields.js';
import type { Judged } from './messages.js';

/** Rows without a target that says something are left out, and counted. */
export function judge(task: string, predictions: readonly string[], targets: readonly string[]): Judged {
  const classes = task === 'classification';
  const known = targets.map((target) => {
    const value = numberOf(target);
    return classes ? value !== undefined : typeof value === 'number';
  });
  const count = known.filter(Boolean).length;
  const wrong = predictions.map((prediction, row) => classes && known[row]! && !same(prediction, targets[row]!));
  const figures: string[] = [];
  if (count > 0 && classes) {
    const right = count - wrong.filter(Boolean).length;
    figures.push(`, ${((100 * right) / count).toFixed(2)} % right (${right} of ${count})`);
  } else if (count > 0) {
    const squares = predictions.map((value, row) => (known[row] ? (Number(value) - Number(targets[row])) ** 2 : 0));
    const error = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / count);
    figures.push(`, root of the mean squared error ${error.toPrecision(4)}`);
  }
  const left = targets.length - count;
  if (left > 0) {
    const missing = targets.filter((target) => numberOf(target) === undefined).length;
    figures.push(`; ${left} ${missing === left ? 'without a target' : 'whose target is no number'} are not counted`);
  }
  return { figures: figures.join(''), wrong };
}

/** Classes are the same as texts, or as numbers: "1" and "1.0". */
const same = (a: string, b: string): boolean => a === b || (a !== '' && b !== '' && Number(a) === Number(b));
