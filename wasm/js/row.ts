/** The rows that calls take. */

import type { Info } from './model.js';

/** An array of numbers of JavaScript's own types. */
export type Numbers =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint8ClampedArray
  | Uint16Array
  | Uint32Array
  | readonly number[];

/** What stands in a column: a number, a text, or nothing, which is a missing value. */
export type Field = number | string | boolean | null | undefined;

/** A row as it stands in the data: a field for each column, by the columns' names. */
export interface NamedRow {
  readonly [column: string]: Field;
}

/**
 * The same for objects of a type of their own: an `interface` has no index signature, but all of its
 * properties must be fields.
 */
export type Fields<T> = object & { readonly [K in keyof T]: Field };

/**
 * A row: a number for each input, in an array of any type. They count as float32: integers up
 * to 2^24 are exact, and the same numbers give the same bits in every type.
 *
 * Of a model that was loaded with {@link Options.columns}, a row may also be what stands in
 * the data: an object of fields by the columns' names, or a plain array of the fields in the
 * order of the columns.
 */
export type Row = Numbers | NamedRow | readonly Field[];

/** Several rows: an array of rows, or the numbers of all, one row behind the other. */
export type Rows = Numbers | readonly Row[];

/** How fields are read. */
export interface Reading {
  /**
   * What becomes of a text that is none of its column's values: an `error`, or none of them, as by
   * `koan predict`: `zeros`. So with a missing one, but that it is no error where something stands in for
   * missing numbers. Another number than those of a column whose values are all numbers is always zeros.
   */
  readonly unknown?: 'error' | 'zeros' | undefined;
}

/** Makes inputs of columns: `Columns` of the entry `koan-wasm/columns`. */
export type ColumnMap = new (info: Info, options?: Reading) => {
  row(fields: NamedRow | readonly Field[]): Float32Array;
};

/**
 * Typed arrays of numbers.
 *
 * @internal
 */
export type Typed = Exclude<Numbers, readonly number[]>;

/**
 * Whether these are several rows, each an array or an object of its own.
 *
 * @internal
 */
export const isList = (rows: unknown): rows is readonly unknown[] =>
  Array.isArray(rows) && typeof rows[0] === 'object';

/**
 * The numbers of inputs as a typed array; what is none is an error.
 *
 * @param many whether these are several rows
 * @internal
 */
export function typed(row: unknown, many?: boolean): Typed {
  if (Array.isArray(row)) {
    const wrong = row.findIndex((value) => typeof value !== 'number');
    if (wrong >= 0) throw new TypeError(`input ${wrong} is ${shown(row[wrong])}, not a number`);
    return Float32Array.from(row);
  }
  const type = Object.prototype.toString.call(row).slice(8, -1);
  if (type === 'Object') {
    throw new TypeError(
      many
        ? 'several rows are an array'
        : 'a row by the names of columns needs Model.load(…, { columns: Columns }) with Columns of koan-wasm/columns',
    );
  }
  if (!/^(Float|Int|Uint)\d+(Clamped)?Array$/.test(type)) {
    throw new TypeError(`a row is an array of numbers, not ${type}`);
  }
  return row as Typed;
}

/** @internal */
export const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);
