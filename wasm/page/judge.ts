/** How predictions compare with the targets that stand beside them. */

import { numberOf, plain } from '../js/fields.js';
import type { Judged } from './messages.js';

/** The class of a target: where `positive` is told from all other classes, one of two. */
function classOf(target: string, positive: string | undefined): string {
  if (positive === undefined) return target;
  return target === positive || plain(target) === positive ? positive : `not ${positive}`;
}

/**
 * Rows without a target that says something are left out, and counted.
 *
 * @param positive the class that the model tells from all others, if it does
 */
export function judge(
  task: string,
  predictions: readonly string[],
  targets: readonly string[],
  positive: string | undefined,
): Judged {
  const classes = task === 'classification';
  const known = targets.map((target) => {
    const value = numberOf(target);
    return classes ? value !== undefined : typeof value === 'number';
  });
  const count = known.filter(Boolean).length;
  const wrong = predictions.map(
    (prediction, row) => classes && known[row]! && !same(prediction, classOf(targets[row]!, positive)),
  );
  const figures: string[] = [];
  if (count > 0 && classes) {
    const right = count - wrong.filter(Boolean).length;
    figures.push(`, ${((100 * right) / count).toFixed(2)} % right (${right} of ${count})`);
  } else if (count > 0) {
    // What is shown are the digits of a float32: that is what was predicted.
    const off = predictions.map((value, row) => (known[row] ? Math.fround(Number(value)) - Number(targets[row]) : 0));
    const error = Math.sqrt(off.reduce((sum, by) => sum + by * by, 0) / count);
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
