/** The columns that the trainer noted in a model; see `host/data/src/compact.rs` for their JSON. */

import { Code } from './code.js';
import type { Info } from './model.js';

/** What becomes of a column. */
export type Column =
  | { kind: 'number'; name: string; missing?: number | undefined }
  | { kind: 'text'; name: string; values: string[] }
  | { kind: 'coded'; name: string; code: Code; values: string[] }
  | { kind: 'target' | 'dropped'; name: string };

/** What the notes say of the columns; `nameCode` where codes stand for their names. */
export interface Schema {
  readonly columns: readonly Column[];
  readonly nameCode: Code | undefined;
}

/** Reads the notes of a model. */
export function schemaOf(info: Pick<Info, 'inputs' | 'notes'>): Schema {
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

/** How many inputs a column makes. */
export const inputsOf = (column: Column): number =>
  column.kind === 'number' ? 1 : 'values' in column ? column.values.length : 0;

