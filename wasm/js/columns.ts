/**
 * Rows as they stand in the data: what `koan predict` does with the columns of a table, by what
 * the trainer noted of them in the model.
 *
 * @module
 */

import { parse, type CsvRecord } from './csv.js';
import { neededOf, numberOf, placesByName, placesByPosition, push, type Places } from './fields.js';
import type { Info } from './model.js';
import { inputsOf, schemaOf, type Schema } from './notes.js';
import type { Field, Fields, NamedRow, Reading } from './row.js';

export type { Field, Fields, NamedRow, Reading };

/** What a model says of its columns: `model.info`. */
export type ColumnInfo = Pick<Info, 'inputs' | 'notes'>;

/** A table's rows, ready for `classifyMany` and its like. */
export interface Table {
  /** The inputs, row by row. */
  readonly rows: Float32Array;
  /** The targets as they stand in the file; none if it has no such column. */
  readonly targets: string[] | undefined;
  /** The recording of each row, by the column of `--group`; none if there is no such column. */
  readonly groups: string[] | undefined;
  /** The line of each row. */
  readonly lines: number[];
}

/**
 * Makes a model's inputs of a row's fields: categories become one input for each value, and
 * missing numbers the stand-ins of `koan train --missing impute`.
 */
export class Columns {
  readonly #schema: Schema;
  readonly #inputs: number;
  /** The names that rows had last, and where the columns' fields are under them. */
  #names: readonly string[] = [];
  #places: Places | undefined;

  /** @param info a model's `info` */
  constructor(info: ColumnInfo, options?: Reading) {
    this.#schema = checkedSchema(info, options);
    this.#inputs = info.inputs;
  }

  /**
   * The inputs of a row.
   *
   * @param row by the columns' names (other names are ignored), or in the columns' order: of
   * all columns, or without the target's, the dropped ones, or both
   */
  row<T extends Fields<T>>(row: NamedRow | readonly Field[] | T): Float32Array {
    const fields = row as NamedRow | readonly Field[];
    const { columns } = this.#schema;
    if (typeof fields !== 'object' || !fields) throw new TypeError(`a row is an object or an array, not ${fields}`);
    const inputs: number[] = [];
    const names = Array.isArray(fields) ? undefined : Object.keys(fields);
    const values: readonly Field[] = names ? Object.values(fields) : (fields as readonly Field[]);
    const places = names ? this.#byName(names) : placesByPosition(columns, values.length);
    if (!places) throw new Error(`a row of ${values.length} fields: the model needs ${neededOf(columns)}`);
    columns.forEach((column, index) => {
      const place = places[index];
      if (place === undefined) return;
      push(inputs, this.#schema, column, values[place], () =>
        names ? `column ${names[place]}` : `column ${place + 1}${inBrackets(column.name)}`,
      );
    });
    return Float32Array.from(inputs);
  }

  /** The inputs of several rows, row by row. */
  rows<T extends Fields<T>>(list: readonly (NamedRow | readonly Field[] | T)[]): Float32Array {
    const all = new Float32Array(list.length * this.#inputs);
    list.forEach((row, i) => {
      try {
        all.set(this.row(row as NamedRow), i * this.#inputs);
      } catch (error) {
        throw new Error(`row ${i}: ${(error as Error).message}`);
      }
    });
    return all;
  }

  #byName(names: string[]): Places {
    const before = this.#names;
    if (this.#places && names.length === before.length && names.every((name, i) => name === before[i])) {
      return this.#places;
    }
    const { places, lacking } = placesByName(this.#schema, names);
    if (lacking.length) {
      const nameless = 'the model has columns without a name: give the fields as an array, in their order';
      throw new Error(lacking[0] ? lacks('row', this.#schema, lacking, names) : nameless);
    }
    this.#names = names;
    return (this.#places = places);
  }
}

/** Lines between two reports of the progress. */
const REPORTED = 1000;

/** How a table is read. */
export interface TableOptions extends Reading {
  /** Told now and then which share is done. */
  readonly progress?: ((share: number) => void) | undefined;
  /** Whether the first line is a header; without it this is told by the names and by what stands under them. */
  readonly header?: boolean | undefined;
}

/** Reads the text of a table, with or without a header; errors name line and column. */
export function readTable(text: string, info: ColumnInfo, { progress, header: given, ...reading }: TableOptions = {}): Table {
  if (typeof text !== 'string') throw new TypeError('a table is read of its text');
  // Taking fields apart and making numbers of them take about as long.
  const schema = checkedSchema(info, reading);
  const { columns } = schema;
  const fits = (fields: number): boolean => placesByPosition(columns, fields) !== undefined;
  const records = parse(text, fits, REPORTED, (share) => progress?.(share / 2));
  const [first] = records;
  if (!first) throw new Error('the table is empty');
  const { places, header } = layout(schema, first, given);
  const body = records.slice(Number(header));
  if (!body.length) throw new Error('the table has a header and no rows');

  const rows: number[] = [];
  const target = places[columns.findIndex((column) => column.kind === 'target')];
  const group = places[schema.group ?? -1];
  const fieldsAt = (place: number | undefined): string[] | undefined =>
    place === undefined ? undefined : body.map(({ fields }) => fields[place]!);
  for (const [at, { line, fields }] of body.entries()) {
    if (at % REPORTED === 0) progress?.(0.5 + at / body.length / 2);
    if (fields.length !== first.fields.length) {
      throw new Error(`line ${line} has ${fields.length} fields, the first has ${first.fields.length}`);
    }
    columns.forEach((column, index) => {
      const place = places[index];
      if (place === undefined) return;
      push(rows, schema, column, fields[place], () => `line ${line}, column ${place + 1}${inBrackets(column.name)}`);
    });
  }
  return {
    rows: Float32Array.from(rows),
    targets: fieldsAt(target),
    groups: fieldsAt(group),
    lines: body.map((record) => record.line),
  };
}

/** The columns, whose inputs must be the model's. */
function checkedSchema(info: ColumnInfo, reading?: Reading): Schema {
  const schema = schemaOf(info, reading);
  const width = schema.columns.reduce((sum, column) => sum + inputsOf(column), 0);
  if (width !== info.inputs) {
    const windows = schema.samples ? `windows of ${schema.samples} samples: ` : '';
    throw new Error(`the columns that the model names make ${width} inputs, it takes ${windows}${info.inputs}`);
  }
  return schema;
}

/**
 * Which field holds each column, and whether the first line is a header: as in
 * `host/data/src/csv.rs`, by name under a header, by position only without one.
 */
function layout(schema: Schema, { fields: first, line }: CsvRecord, given?: boolean): { places: Places; header: boolean } {
  const { columns, nameCode } = schema;
  const named = columns.some((column) => inputsOf(column) > 0 && column.name);
  const { places, lacking } = placesByName(schema, first);
  if (given !== false && named && !lacking.length) return { places, header: true };
  const byPosition = placesByPosition(columns, first.length);
  const numbers = columns.flatMap(({ kind }, index) => (kind === 'number' ? (byPosition?.[index] ?? []) : []));
  const header = given ?? (numbers.length > 0 && numbers.every((field) => typeof numberOf(first[field]!) === 'string'));
  if (given === undefined && byPosition && countColumns(schema, first)) {
    throw new Error(`line ${line} may be a header of numbers, or the first row: say by \`header\` which it is`);
  }
  // A header that lacks a column, or rows of another width?
  const unsure = !byPosition || (!numbers.length && !nameCode);
  const some = columns.some(({ name }, index) => name && places[index] !== undefined);
  if (named && (header || (unsure && some))) throw new Error(lacks('table', schema, lacking, first));
  if (!byPosition) throw new Error(`the table has ${first.length} columns, the model needs ${neededOf(columns)}`);
  return { places: byPosition, header };
}

/** Whether the first line may be the columns' numbers; where columns are texts, those are told that they do not list. */
function countColumns({ columns }: Schema, first: readonly string[]): boolean {
  const isNext = (field: string, index: number): boolean => /^\d+$/.test(field) && Number(field) === Number(first[0]) + index;
  return first.length > 2 && first.every(isNext) && columns.every(({ kind }) => kind !== 'text');
}

/** What is missing; a model whose notes have codes does not know its columns' names. */
function lacks(what: string, { nameCode }: Schema, lacking: string[], names: readonly string[]): string {
  const missing = nameCode ? `${lacking.length} of the columns that the model needs` : lacking[0] ? `column \`${lacking[0]}\`` : 'a column without a name';
  return `the ${what} lacks ${missing}; it has: ${names.join(', ')}`;
}

const inBrackets = (name: string): string => name && ` (${name})`;
