// What a user writes, for older TypeScript.

import { embed, hasSimd, init, Model, type Info, type Options, type Row, type Rows } from 'koan-wasm';
import { Columns, readTable, type Table } from 'koan-wasm/columns';
import { Model as JsonModel } from 'koan-wasm/json';
import { init as slimInit } from 'koan-wasm/slim';

interface Person {
  age: number;
  city?: string;
}

export async function use(blob: Uint8Array, wasm: Uint8Array): Promise<string> {
  await init();
  await slimInit(wasm);
  const options: Options = { columns: Columns, maxWork: 1e6, allowNaN: hasSimd() };
  const model: Model = await Model.load(blob, options);
  const info: Info = model.info;
  const rows: Rows = [[1, 2], new Float64Array(2), { age: 3, city: 'Graz', weight: null }];
  const row: Row = new Uint8ClampedArray(info.inputs);
  const labels: string[] = model.predictLabelMany(rows);
  const person: Person = { age: 3 };
  const scores: Int32Array = model.scores(Math.random() < 0.5 ? row : person);
  const table: Table = readTable('a,b\n1,2\n', info);
  const numbers: Float32Array = model.probabilitiesMany(table.rows);
  const both: WebAssembly.Module = await WebAssembly.compile(embed(wasm, blob));
  const text: string = JsonModel.from(blob).json('[1]');
  // @ts-expect-error: text is no row
  model.classify('1, 2');
  // @ts-expect-error: there is no such option
  Model.from(blob, { maxwork: 3 });
  await Model.load(both);
  model.free();
  return `${labels[0]} ${scores[0]} ${numbers[0]} ${text}`;
}
