// The same with `require`.

const { readFileSync } = require('node:fs');
const { Model, init } = require('koan-wasm');
const { Columns } = require('koan-wasm/columns');
const { Model: JsonModel, init: jsonInit } = require('koan-wasm/json');

async function main() {
  const { golden } = await import('./models.mjs');
  const { replay } = await import('./shared.mjs');
  await init();
  const result = replay(Model, golden());
  const model = await Model.load(require.resolve('./digits.koan'));
  const digit = model.predictLabel(new Array(64).fill(0));
  await jsonInit();
  const json = JSON.parse(JsonModel.from(readFileSync(require.resolve('./digits.koan'))).json(JSON.stringify(Array(64).fill(0))));
  const columns = new Columns({ notes: '{"columns":["a",["b",0,1],0]}', inputs: 3 });
  console.log(JSON.stringify({ ...result, digit, same: json.name === digit, inputs: [...columns.row({ b: 1, a: 2.5 })] }));
}

main();
