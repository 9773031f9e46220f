// Types of rows: what the compiler takes for one, and what it refuses. Never run.

import { Model, type NamedRow, type Row } from 'koan-wasm';
import { Columns } from 'koan-wasm/columns';

interface Person {
  age: number;
  readonly job?: string | null;
  member: boolean;
}
class Reading {
  constructor(
    readonly heat: number,
    readonly load: string,
  ) {}
}

export const lenient = Model.load('m.koan', { columns: Columns, unknown: 'zeros' });
// @ts-expect-error: there is no such way
export const other = Model.load('m.koan', { columns: Columns, unknown: 'zero' });

export function typed(model: Model, columns: Columns, person: Person, people: readonly Person[]): void {
  model.predictLabel(person);
  model.classify(new Reading(1, 'high'));
  model.predictLabelMany(people);
  model.predictMany([person, person]);
  model.valuesMany([{ age: 3 }, [1, 'x'], new Float32Array(2)]);
  columns.row(person);
  columns.rows(people);
  const row: Row = { age: 1, job: 'clerk' };
  const named: NamedRow = { age: 1 };
  model.scores(row);
  model.scores(named);
  model.probabilities([1, 2, 3]);
  model.features(Float64Array.of(1));
  model.scoresMany(new Uint8Array(4));
  // @ts-expect-error: a date is no field
  model.classify({ age: 3, born: new Date() });
  // @ts-expect-error: nor is an object
  columns.row({ age: { years: 3 } });
  // @ts-expect-error: nor a bigint
  model.predictLabel({ id: 3n });
  // @ts-expect-error: rows are no text
  model.classify('1, 2, 3');
  // @ts-expect-error: nor a number
  model.classify(3);
  // @ts-expect-error: nor nothing
  model.classify(null);
  // @ts-expect-error: nor big integers
  model.scoresMany(new BigInt64Array(4));
  // @ts-expect-error: nor dates
  model.scoresMany([new Date()]);
  // @ts-expect-error: several rows are an array
  model.predictMany(person);
}
