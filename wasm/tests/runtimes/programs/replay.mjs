// The golden models in whatever runs this file, and a row of raw columns.

import { readFileSync } from 'node:fs';
import { Model, init } from 'koan-wasm';
import { Columns } from 'koan-wasm/columns';
import { Model as JsonModel, init as jsonInit } from 'koan-wasm/json';
import { golden } from './models.mjs';
import { replay } from './shared.mjs';

await init();
const result = replay(Model, golden());
// Addresses of files, too.
const model = await Model.load(new URL('./digits.koan', import.meta.url));
const digit = model.predictLabel(new Array(64).fill(0));
await jsonInit();
const json = JSON.parse(JsonModel.from(readFileSync(new URL('./digits.koan', import.meta.url))).json(JSON.stringify(Array(64).fill(0))));
const columns = new Columns({ notes: '{"columns":["a",["b",0,1],0]}', inputs: 3 });
console.log(JSON.stringify({ ...result, digit, same: json.name === digit, inputs: [...columns.row({ b: 1, a: 2.5 })] }));
