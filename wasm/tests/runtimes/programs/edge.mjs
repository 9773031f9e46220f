// A Worker at the edge: it replays the models that it is sent.

import { Model, init } from 'koan-wasm';
import { Columns } from 'koan-wasm/columns';
import { Model as JsonModel, init as jsonInit } from 'koan-wasm/json';
import { replay } from './shared.mjs';

export default {
  async fetch(request) {
    await init();
    await jsonInit();
    const models = (await request.json()).map((model) => ({ ...model, blob: Uint8Array.from(model.blob) }));
    const result = replay(Model, models);
    const { blob } = models.find(({ name }) => name === 'digits.koan');
    const digit = Model.from(blob).predictLabel(new Array(64).fill(0));
    const json = JSON.parse(JsonModel.from(blob).json(JSON.stringify(Array(64).fill(0))));
    const columns = new Columns({ notes: '{"columns":["a",["b",0,1],0]}', inputs: 3 });
    return Response.json({ ...result, digit, same: json.name === digit, inputs: [...columns.row({ b: 1, a: 2.5 })] });
  },
};
