/** What the rows of a model are, by what its trainer noted in it. */

import type { Info } from '../js/index.js';

/** Names of columns that are listed; more are counted. */
const LISTED = 16;

interface Notes {
  format?: string;
  columns?: unknown[];
  salt?: string;
  /** The class that is told from all others. */
  positive?: string;
  window?: [samples: number, stride: number];
}

export function notesOf(info: Info): Notes {
  try {
    return JSON.parse(info.notes || '{}') as Notes;
  } catch {
    // Notes by somebody else: the columns are then plain numbers.
    return {};
  }
}

/** The windows over raw samples that a model takes, if it does. */
export interface Windows {
  samples: number;
  stride: number;
  channels: number;
}

export function windowsOf(info: Info): Windows | undefined {
  const [samples, stride] = notesOf(info).window ?? [];
  if (!samples || !stride || info.inputs % samples !== 0) return undefined;
  return { samples, stride, channels: info.inputs / samples };
}

/** A sentence that says what a row is. */
export function describe(info: Info): string {
  const notes = notesOf(info);
  const windows = windowsOf(info);
  if (windows) {
    const { samples, stride, channels } = windows;
    const names = list(namesOf(notes, channels));
    return (
      `It takes windows of ${samples} samples of ${count(channels, 'channel')}${names}, one every ` +
      `${stride}. A line of the table is a sample, the oldest first, all of one recording.`
    );
  }
  if (notes.format && notes.format !== 'csv') {
    return `Its rows are ${info.inputs} numbers of ${notes.format} data.`;
  }
  const names = namesOf(notes, info.inputs);
  return `A row of the table has ${count(names.length, 'column')}${list(names)}.`;
}

const count = (number: number, thing: string): string =>
  `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`;

function list(names: string[]): string {
  const told = names.filter((name) => name !== '');
  if (told.length === 0 || told.length < names.length) return '';
  const more = told.length - LISTED;
  return ` (${told.slice(0, LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''})`;
}

/** The columns that a row is made of; empty texts where the names are not known. */
function namesOf(notes: Notes, columns: number): string[] {
  if (!Array.isArray(notes.columns)) return Array.from({ length: columns }, () => '');
  const many = (length: number): string[] => Array.from({ length: Math.min(length, 65535) }, () => '');
  return notes.columns.flatMap((item): string[] => {
    if (typeof item === 'number') return many(Math.max(item, 0));
    if (typeof item === 'string') return [notes.salt ? '' : item];
    if (Array.isArray(item)) {
      const [first] = item as unknown[];
      if (typeof first === 'number') return many(first);
      return [notes.salt || item.length !== 3 ? '' : String(first)];
    }
    const { name = '', target, dropped } = item as Record<string, unknown>;
    if (target !== undefined || dropped !== undefined) return [];
    return [notes.salt ? '' : String(name)];
  });
}

/** A row of the model as code: numbers, or what stands in the columns of its table. */
export function sampleOf(info: Info): string {
  const notes = notesOf(info);
  const items = Array.isArray(notes.columns) ? notes.columns : [];
  const isTable = items.some((item) => typeof item === 'string' || (typeof item === 'object' && !isTarget(item)));
  if (windowsOf(info) || (notes.format && notes.format !== 'csv') || !isTable) {
    return `new Float32Array(${info.inputs})`;
  }
  const names = namesOf(notes, info.inputs);
  if (names.length > LISTED || names.includes('')) return `[/* ${count(names.length, 'field')}, as in the table */]`;
  const values = items.flatMap((item) => (isTarget(item) || typeof item === 'number' ? [] : [valueOf(item)]));
  return `{ ${names.map((name, at) => `${/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)}: ${values[at]}`).join(', ')} }`;
}

const isTarget = (item: unknown): boolean => {
  const { target, dropped } = item as { target?: unknown; dropped?: unknown };
  return target !== undefined || dropped !== undefined;
};

/** What could stand in a column. */
function valueOf(item: unknown): string {
  const { values } = item as { values?: unknown };
  return Array.isArray(values) ? JSON.stringify(values[0]) : Array.isArray(item) ? String(item[1]) : '1';
}
