// The golden models through a runtime: what node, the page and the Worker share.

/** The rows of a golden model's JSON: NaN and infinities are texts there. */
const numbers = (row) => row.map(Number);

/** The row in every type that holds its numbers. */
function typed(row) {
  const list = [Float32Array.from(row)];
  for (const Type of [Int16Array, Uint8Array]) {
    const array = Type.from(row);
    if (array.every((value, i) => Object.is(value, row[i] + 0))) list.push(array);
  }
  return list;
}

/**
 * Replays all models, `[{ name, blob, rows }]`, row by row and as batches, in
 * every type, and their self tests.
 *
 * @returns {{ models: number, rows: number, differences: string[] }}
 */
export function replay(Model, models) {
  const differences = [];
  let count = 0;
  const compare = (place, actual, expected) => {
    count += 1;
    if (actual.length !== expected.length || actual.some((score, i) => score !== expected[i])) {
      differences.push(`${place}: expected ${expected}, actual ${[...actual]}`);
    }
  };
  for (const { name, blob, rows } of models) {
    const model = Model.from(blob);
    model.selfTest();
    const batches = new Map();
    rows.forEach(({ row, scores }, number) => {
      for (const array of typed(numbers(row))) {
        const type = array.constructor.name;
        compare(`${name}, row ${number} as ${type}`, model.scores(array), scores);
        const batch = batches.get(type) ?? { rows: [], scores: [] };
        batch.rows.push(...array);
        batch.scores.push(...scores);
        batches.set(type, batch);
      }
    });
    const Types = { Float32Array, Int16Array, Uint8Array };
    for (const [type, batch] of batches) {
      compare(`${name}, all as ${type}`, model.scoresMany(Types[type].from(batch.rows)), batch.scores);
    }
    model.free();
  }
  return { models: models.length, rows: count, differences };
}
