// Times of predictions, in node and in a page alike.

/** Rows that are timed in turn. */
const ROWS = 256;

/** The least milliseconds of a sample: clocks of pages are coarse. */
const SAMPLE = 2;

/** Milliseconds that a figure is taken over. */
const SPAN = 800;

/**
 * The least time of a call, in µs, over many short samples: other work on the machine
 * only adds, and rarely to a sample of a few milliseconds.
 */
export function micros(call) {
  let [calls, least] = [1, Infinity];
  let now = performance.now();
  const end = now + SPAN;
  while (now < end) {
    for (let i = 0; i < calls; i++) call(i % ROWS);
    const before = now;
    now = performance.now();
    const spent = now - before;
    if (spent < SAMPLE) {
      // Too few to be timed, above all before the engine has compiled it for good.
      calls *= 2;
    } else {
      least = Math.min(least, (1000 * spent) / calls);
    }
  }
  return least;
}

/** Rows of whole numbers, one behind the other. */
export const rowsOf = (inputs) => Float32Array.from({ length: ROWS * inputs }, (_, i) => (i * 7919) % 17);

/** Times of a model: of one row, and of a row of many. */
function timesOf(Model, blob) {
  const model = Model.from(blob);
  try {
    model.selfTest();
    const { inputs, outputs, features } = model.info;
    const rows = rowsOf(inputs);
    const one = Array.from({ length: ROWS }, (_, i) => rows.subarray(i * inputs, (i + 1) * inputs));
    return {
      inputs,
      outputs,
      features,
      one: micros((i) => model.scores(one[i])),
      many: micros(() => model.scoresMany(rows)) / ROWS,
    };
  } finally {
    model.free();
  }
}

/** The same for models by their names, `{ name: bytes }`. */
export function times(Model, models) {
  return Object.fromEntries(Object.entries(models).map(([name, blob]) => [name, timesOf(Model, blob)]));
}
