/**
 * From the text of a CSV file to the rows that a model takes: what
 * `koan predict` does, by the columns that the trainer noted in the model.
 */

import type { Info } from '../js/slim.js';
import { Code } from './code.js';

/** What becomes of a column; see `host/data/src/compact.rs` for its JSON. */
type Column =
  | { kind: 'number'; name: string; missing?: number | undefined }
  | { kind: 'text'; name: string; values: string[] }
  | { kind: 'coded'; name: string; code: Code; values: string[] }
  | { kind: 'target' | 'dropped'; name: string };

export interface Table {
  /** Row by row. */
  rows: Float32Array<ArrayBuffer>;
  /** The targets as they stand in the file; none if it has no such column. */
  targets: string[] | undefined;
  /** The line of each row. */
  lines: number[];
}

/** Lines between two reports of the progress. */
const REPORTED = 1000;

/**
 * Reads a table for a model; errors name line and column.
 *
 * @param progress told now and then which share is done
 */
export function read(text: string, info: Info, progress: (share: number) => void = () => {}): Table {
  // Taking fields apart and making numbers of them take about as long.
  const records = parse(text, (share) => progress(share / 2));
  const [first] = records;
  if (!first) throw new Error('the table is empty');
  const { columns, nameCode } = columnsOf(info);
  const width = columns.reduce((sum, column) => sum + inputsOf(column), 0);
  if (width !== info.inputs) {
    throw new Error(`the columns that the model names make ${width} inputs, it takes ${info.inputs}`);
  }
  const { fields, header } = layout(columns, first.fields, nameCode);
  const body = header ? records.slice(1) : records;
  if (body.length === 0) throw new Error('the table has a header and no rows');

  const rows: number[] = [];
  const target = columns.findIndex((column) => column.kind === 'target');
  const hasTargets = target >= 0 && fields[target] !== undefined;
  const targets: string[] = [];
  for (const [at, record] of body.entries()) {
    if (at % REPORTED === 0) progress(0.5 + at / body.length / 2);
    if (record.fields.length !== first.fields.length) {
      throw new Error(
        `line ${record.line} has ${record.fields.length} fields, the first has ${first.fields.length}`,
      );
    }
    columns.forEach((column, index) => {
      const field = fields[index];
      if (field === undefined) return;
      const place = `line ${record.line}, column ${field + 1}${column.name && ` (${column.name})`}`;
      push(rows, column, record.fields[field]!, place);
    });
    if (hasTargets) targets.push(record.fields[fields[target]!]!);
  }
  return {
    rows: new Float32Array(rows),
    targets: hasTargets ? targets : undefined,
    lines: body.map((record) => record.line),
  };
}

function columnsOf(info: Info): { columns: Column[]; nameCode: Code | undefined } {
  let notes: { format?: string; columns?: unknown[]; salt?: string } = {};
  try {
    notes = JSON.parse(info.notes || '{}');
  } catch {
    // Notes by somebody else: the columns are then plain numbers.
  }
  if (notes.format && notes.format !== 'csv') {
    throw new Error(`the model was trained on ${notes.format} data, not on a table of columns`);
  }
  const items = Array.isArray(notes.columns) ? notes.columns : [info.inputs, 0];
  const { salt } = notes;
  const nameCode = salt ? new Code(salt[0]!, salt.length > 1 ? 3 : 2) : undefined;
  const named = (name: string): string => (nameCode && name ? `#${name}` : name);
  const columns = items.flatMap((item): Column[] => {
    if (typeof item === 'number') {
      const kind = item > 0 ? 'number' : item < 0 ? 'dropped' : 'target';
      const length = Math.min(Math.abs(item) || 1, 65535);
      return Array.from({ length }, () => ({ kind, name: '' }));
    }
    if (typeof item === 'string') return [{ kind: 'number', name: named(item) }];
    if (Array.isArray(item) && item.length === 3) {
      const [which, first, last] = item as [string | number, number, number];
      const length = Math.min(Math.max(last - first + 1, 0), 1000);
      const values = Array.from({ length }, (_, i) => String(first + i)).sort();
      const name = typeof which === 'string' ? named(which) : '';
      const count = typeof which === 'number' ? Math.min(which, 65535) : 1;
      return Array.from({ length: count }, () => ({ kind: 'text', name, values }));
    }
    if (Array.isArray(item)) {
      const [whole, apart] = item as string[];
      const width = apart === undefined ? (nameCode?.width ?? 0) : whole!.length;
      const values = apart ?? whole!.slice(width);
      return [{ kind: 'coded', name: named(whole!.slice(0, width)), ...Code.values(values) }];
    }
    const { name = '', values, missing, target, dropped } = item as Record<string, never>;
    if (target !== undefined) return [{ kind: 'target', name: named(target) }];
    if (dropped !== undefined) return [{ kind: 'dropped', name: named(dropped) }];
    if (Array.isArray(values)) return [{ kind: 'text', name: named(name), values }];
    return [{ kind: 'number', name: named(name), missing }];
  });
  return { columns, nameCode };
}

const inputsOf = (column: Column): number =>
  column.kind === 'number' ? 1 : 'values' in column ? column.values.length : 0;

/** Which field holds each column, and whether the first line is a header. */
function layout(
  columns: Column[],
  first: string[],
  nameCode: Code | undefined,
): { fields: (number | undefined)[]; header: boolean } {
  const named = columns.some((column) => inputsOf(column) > 0 && column.name);
  if (named) {
    const own = first.map((name) => (nameCode && name ? `#${nameCode.text(name)}` : name));
    for (const { name } of columns) {
      if (name && own.indexOf(name) !== own.lastIndexOf(name)) {
        const same = first.filter((_, field) => own[field] === name);
        throw new Error(`the model cannot tell the columns apart: ${same.join(', ')}`);
      }
    }
    const free = own.map((name, field) => ({ name, field }));
    const lacking: string[] = [];
    const fields = columns.map((column) => {
      const index = free.findIndex(({ name }) => name === column.name);
      if (index >= 0) return free.splice(index, 1)[0]!.field;
      if (inputsOf(column) > 0) lacking.push(column.name);
      return undefined;
    });
    if (lacking.length === 0) return { fields, header: true };
    if (lacking.length < columns.filter((column) => inputsOf(column) > 0).length) {
      throw new Error(`the table has no column \`${lacking[0]}\`; it has: ${first.join(', ')}`);
    }
  }
  // By position: all columns, or without the target, the dropped ones, or both.
  const without: Column['kind'][][] = [[], ['dropped'], ['target'], ['target', 'dropped']];
  for (const kinds of without) {
    let next = 0;
    const fields = columns.map((column) => (kinds.includes(column.kind) ? undefined : next++));
    if (next !== first.length) continue;
    const numbers = columns
      .map((column, index) => (column.kind === 'number' ? fields[index] : undefined))
      .filter((field) => field !== undefined);
    const header =
      numbers.length > 0 && numbers.every((field) => typeof number(first[field]!) === 'string');
    return { fields, header };
  }
  throw new Error(`the table has ${first.length} columns, the model needs ${columns.length}`);
}

/** A number, `undefined` for a missing one, or the text itself. */
function number(field: string): number | string | undefined {
  if (field === '' || field === '?' || field === 'NA' || /^(null|nan)$/i.test(field)) return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(field) ? Number(field) : field;
}

/** A number as the name of a class or value: "+1", "1" and "1.0" are all "1". */
function plain(field: string): string {
  const value = number(field);
  const padded = /^[+-]?0\d/.test(field);
  return typeof value === 'number' && !padded ? String(value + 0) : field;
}

function push(rows: number[], column: Column, field: string, place: string): void {
  if (column.kind === 'coded') {
    const code = (text: string) => column.code.text(text);
    const known = column.values.includes(code(field));
    const own = number(field) === undefined ? undefined : code(known ? field : plain(field));
    rows.push(...column.values.map((value) => (value === own ? 1 : 0)));
  } else if (column.kind === 'text') {
    const own = column.values.includes(field) ? field : plain(field);
    rows.push(...column.values.map((value) => (value === own ? 1 : 0)));
  } else if (column.kind === 'number') {
    const value = number(field) ?? column.missing;
    if (value === undefined) throw new Error(`${place}: a number is missing`);
    if (typeof value === 'string') throw new Error(`${place}: \`${field}\` is not a number`);
    rows.push(value);
  }
}

interface Record_ {
  line: number;
  fields: string[];
}

/** Records of delimited text; quotes as in RFC 4180, blank lines are skipped. */
function parse(text: string, progress: (share: number) => void): Record_[] {
  const firstLine = text.slice(0, (text.indexOf('\n') + 1 || text.length + 1) - 1);
  const count = (mark: string): number => firstLine.split(mark).length;
  const delimiter = [',', '\t', ';'].reduce((a, b) => (count(b) > count(a) ? b : a));
  const records: Record_[] = [];
  let [fields, field, quoted, line, start]: [string[], string, boolean, number, number] = [[], '', false, 1, 1];
  let done = 0;
  const end = (): void => {
    fields.push(field.trim());
    if (fields.length > 1 || fields[0] !== '') records.push({ line: start, fields });
    if (records.length % REPORTED === 0) progress(done / text.length);
    [fields, field] = [[], ''];
  };
  for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length; i++) {
    const mark = text[i]!;
    done = i;
    if (mark === '\n') line++;
    if (quoted) {
      if (mark !== '"') field += mark;
      else if (text[i + 1] === '"') field += text[i++];
      else quoted = false;
    } else if (mark === '"' && field.trim() === '') {
      [quoted, field] = [true, ''];
    } else if (mark === delimiter) {
      fields.push(field.trim());
      field = '';
    } else if (mark === '\n') {
      end();
      start = line;
    } else {
      field += mark;
    }
  }
  if (quoted) throw new Error(`line ${start}: a quote is opened and not closed`);
  end();
  return records;
}
