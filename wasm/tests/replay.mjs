// The golden models through a runtime: what node, the page and the Worker share.

/** The rows of a golden model's JSON: NaN and infinities are texts there. */
const numbers = (row) => row.map(Number);

const TYPES = [
  Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Uint8Array, Uint8ClampedArray,
  Uint16Array, Uint32Array,
];

/** The row in every type that holds its numbers. */
const typed = (row) =>
  TYPES.map((Type) => Type.from(row)).filter(
    (array) => /^F|^A/.test(array.constructor.name) || array.every((value, i) => Object.is(value, row[i] + 0)),
  );

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
    const model = Model.from(blob, { allowNaN: true });
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
    for (const [type, batch] of batches) {
      const Type = TYPES.find(({ name }) => name === type);
      compare(`${name}, all as ${type}`, model.scoresMany(Type.from(batch.rows)), batch.scores);
    }
    model.free();
  }
  return { models: models.length, rows: count, differences };
}
