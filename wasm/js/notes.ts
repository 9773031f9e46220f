/** The columns that the trainer noted in a model; see `host/data/src/compact.rs` for their JSON. */

import { Code } from './code.js';
import type { Info } from './model.js';
import type { Reading } from './row.js';

/** What becomes of a column. */
export type Column =
  | { kind: 'number'; name: string; missing?: number | undefined }
  | { kind: 'text'; name: string; values: string[]; code?: Code }
  | { kind: 'target' | 'dropped'; name: string };

/** What the notes say of the columns; `nameCode` where codes stand for their names. */
export interface Schema {
  readonly columns: readonly Column[];
  readonly nameCode: Code | undefined;
  /** Samples of a window, if rows are windows. */
  readonly samples: number | undefined;
  /** The place of the column that tells recordings apart, if there is one. */
  readonly group: number | undefined;
  /** Whether unknown texts are errors. */
  readonly strict: boolean;
}

/** Reads the notes of a model. */
export function schemaOf(info: Pick<Info, 'inputs' | 'notes'>, { unknown = 'error', ...others }: Reading = {}): Schema {
  // One that is misspelt would do nothing.
  for (const name in others) throw new TypeError(`there is no option ${name}`);
  if (!info?.inputs) throw new TypeError('columns are read of the `info` of a model');
  let notes: { format?: string; columns?: unknown[]; salt?: string; window?: number[]; group?: unknown } = {};
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
  const repeated = (column: Column, count: number): Column[] =>
    Array.from({ length: Math.min(count, 65535) }, () => column);
  const columns = items.flatMap((item): Column | Column[] => {
    if (typeof item === 'number') {
      const kind = item > 0 ? 'number' : item < 0 ? 'dropped' : 'target';
      return repeated({ kind, name: '' }, Math.abs(item) || 1);
    }
    if (typeof item === 'string') return { kind: 'number', name: named(item) };
    if (Array.isArray(item)) {
      if (item.length < 3) {
        const [whole, apart] = item as [string, string?];
        const width = apart === undefined ? (nameCode?.width ?? 0) : whole.length;
        return { kind: 'text', name: named(whole.slice(0, width)), ...Code.values(apart ?? whole.slice(width)) };
      }
      const [which, first, last] = item as [string | number, number, number];
      const length = Math.min(last - first + 1, 1000);
      const values = Array.from({ length }, (_, i) => String(first + i)).sort();
      const isName = typeof which === 'string';
      return repeated({ kind: 'text', name: isName ? named(which) : '', values }, isName ? 1 : which);
    }
    const { name = '', values, missing, target, dropped } = item as Record<string, never>;
    const left = target === undefined ? 'dropped' : 'target';
    const kind = (target ?? dropped) !== undefined ? left : Array.isArray(values) ? 'text' : 'number';
    return { kind, name: named(target ?? dropped ?? name), values, missing } as Column;
  });
  // One that is misspelt would count as an error.
  if (!['error', 'zeros'].includes(unknown)) throw new TypeError(`unknown is ${unknown}, not error or zeros`);
  const group = typeof notes.group === 'number' ? notes.group : undefined;
  return { columns, nameCode, samples: notes.window?.[0], group, strict: unknown === 'error' };
}

/** How many inputs a column makes. */
export const inputsOf = (column: Column): number =>
  column.kind === 'number' ? 1 : column.kind === 'text' ? column.values.length : 0;
