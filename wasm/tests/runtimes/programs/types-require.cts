// The same with `require`.

import koan = require('koan-wasm');
import columns = require('koan-wasm/columns');
import json = require('koan-wasm/json');
import slim = require('koan-wasm/slim');

export async function use(blob: Uint8Array, wasm: Uint8Array): Promise<string> {
  await slim.init(wasm);
  const model: koan.Model = await koan.Model.load(blob, { columns: columns.Columns });
  const row: koan.Row = { age: 3, city: 'Graz' };
  const table: columns.Table = columns.readTable('a\n1\n', model.info);
  return model.predictLabel(row) + table.lines.length + json.Model.from(blob).json('[1]');
}
