/** From the fields of a row, as they stand in the data, to the inputs of a model. */

import { inputsOf, type Column, type Schema } from './notes.js';
import type { Field } from './row.js';

/** Where the field of each column is; nowhere for one that is not needed. */
export type Places = readonly (number | undefined)[];

/** The places of columns by the names of the fields, or the columns without a field. */
export function placesByName(
  { columns, nameCode }: Schema,
  names: readonly string[],
): { places: Places; lacking: string[] } {
  const own: (string | undefined)[] = names.map((name) => (nameCode && name ? `#${nameCode.text(name)}` : name));
  for (const { name } of columns) {
    if (name && own.indexOf(name) !== own.lastIndexOf(name)) {
      const same = names.filter((_, field) => own[field] === name);
      throw new Error(`the model cannot tell the columns apart: ${same.join(', ')}`);
    }
  }
  // Those without a name by their order, but for columns of nothing behind the others.
  const nameless = columns.filter(({ name }) => !name);
  const fields = [...names.keys()].filter((field) => !names[field]);
  let order: Places | undefined;
  for (let end = names.length; end >= 0 && !order && !names[end]; end--) {
    order = placesByPosition(nameless, fields.filter((field) => field < end).length);
  }
  let next = 0;
  const lacking: string[] = [];
  const places = columns.map((column) => {
    const field = column.name ? own.indexOf(column.name) : (fields[order?.[next++] ?? -1] ?? -1);
    if (field >= 0) return field;
    if (inputsOf(column) > 0) lacking.push(column.name);
    return undefined;
  });
  return { places, lacking };
}

/**
 * The places by position: of all columns, or without the target, the dropped ones, or both; in the
 * order in which `koan predict` tries them.
 */
export function placesByPosition(columns: readonly Column[], count: number): Places | undefined {
  for (const kinds of ['', 'target', 'dropped', 'target dropped']) {
    let next = 0;
    const places = columns.map(({ kind }) => (kinds.includes(kind) ? undefined : next++));
    if (next === count) return places;
  }
  return undefined;
}

/** How many fields a row may have by position. */
export function neededOf(columns: readonly Column[]): string {
  const kinds = columns.map(({ kind }) => kind);
  const others = [kinds.includes('target') && 'the target', kinds.includes('dropped') && 'those left out'].filter(Boolean);
  const needed = kinds.filter((kind) => kind !== 'target' && kind !== 'dropped').length;
  return `${needed} columns${others.length ? ` (${kinds.length} with ${others.join(' and ')})` : ''}`;
}

/** Without blanks at its ends, of the kinds that the trainer passes over. */
export const trimmed = (text: string): string => text.replace(/^[ \t\n\f\r]+|[ \t\n\f\r]+$/g, '');

/** A number, `undefined` for a missing one, or the text itself. */
export function numberOf(field: string): number | string | undefined {
  if (field === '' || field === '?' || field === 'NA' || /^(null|[+-]?nan)$/i.test(field)) return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(field) ? Number(field) : field;
}

/** Whether a text is that of a number. */
export const isNumber = (text: string): boolean => typeof numberOf(text) === 'number';

/** A number without an exponent, as the trainer writes it. */
const written = (number: number): string =>
  String(number).replace(/(\d)\.?(\d*)e([+-])(\d+)/, (_, first: string, rest: string, sign: string, power: string) =>
    sign === '+' ? first + rest.padEnd(+power, '0') : `0.${(first + rest).padStart(+power + rest.length, '0')}`,
  );

/** The name of a number among those of float32: no more digits than tell it from the others. */
export function shortest(number: number): string {
  const single = Math.fround(number);
  for (let digits = 1; ; digits++) {
    const name = +single.toPrecision(digits);
    // Nine are always enough.
    if (digits > 8 || Math.fround(name) === single) return written(name);
  }
}

/** Whether a text is that of a number without zeros before it. */
const isBare = (field: string): boolean => isNumber(field) && !/^[+-]?0\d/.test(field);

/** A number as the name of a class or value: "+1", "1" and "1.0" are all "1". One of too many digits stays as it is. */
export const plain = (field: string): string =>
  isBare(field) && field.replace(/\D/g, '').length < 16 ? written(+field + 0) : field;

/** The name of the float32 nearest to a number, where it stands for no other whole number: as which tables have it. */
const rounded = (field: string): string =>
  isBare(field) && Math.abs(Math.fround(+field)) < 2 ** 24 ? shortest(+field) : field;

/** How programs write what is false, then what is true: as a number, then in words. */
const TRUTH = ['0', 'False', 'false', 'FALSE', '1', 'True', 'true', 'TRUE'];

/** Adds the inputs that a column makes of its field; `place` is for errors. */
export function push(rows: number[], schema: Schema, column: Column, field: Field, place: () => string): void {
  const text = trimmed(String(field ?? ''));
  // Tables in memory have truth values as numbers.
  const bare = typeof field === 'boolean' ? String(+field) : text;
  const value = numberOf(bare);
  const wrong = (problem: string): Error => new Error(`${place()}: ${problem}`);
  if (column.kind === 'number') {
    const number = value ?? column.missing;
    if (number === undefined) throw wrong('a number is missing');
    if (typeof number === 'string') throw wrong(`\`${text}\` is not a number`);
    if (!Number.isFinite(Math.fround(number))) throw wrong(`${text} is beyond the range of numbers`);
    rows.push(number);
  } else if (column.kind === 'text') {
    const { values, code } = column;
    // As in `host/data/src/categories.rs`: truth values where there is nothing but their words.
    const listed = (...names: string[]): string | undefined =>
      names.map((name) => (code ? code.text(name) : name)).find((name) => values.includes(name));
    const words = (at: number): string[] =>
      values.length < 3 && at >= 0 && (code || values.every((value) => TRUTH.indexOf(value) % 4 > 0))
        ? TRUTH.slice(at & 4).slice(1, 4)
        : [];
    const other = (): string | undefined => listed(plain(bare), rounded(bare), ...words(TRUTH.indexOf(text)));
    const own = code && value === undefined ? value : (listed(text) ?? other());
    rows.push(...values.map((value) => (value === own ? 1 : 0)));
    if (own !== undefined || !schema.strict) return;
    // As in Python: where numbers were missing in training, texts may have been, too.
    const fills = (other: Column): boolean => other.kind === 'number' && other.missing !== undefined;
    if (value === undefined && !schema.columns.some(fills)) throw wrong('a value is missing');
    // Of categories that are numbers nobody wrote a list.
    if (typeof value === 'string' || (value !== undefined && !code && !values.every(isNumber))) {
      throw wrong(`\`${text}\` is none of the ${values.length} values${code ? '' : `: ${values.slice(0, 10).join(', ')}`}`);
    }
  }
}
