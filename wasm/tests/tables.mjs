// Generated tables of several kinds to train on.

/** Numbers below 1 that look random, the same every time. */
function uniform(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const table = (lines) => `${lines.join('\n')}\n`;

/** Two classes of numbers and texts; some are missing. */
export function states(rows) {
  const next = uniform(1);
  const lines = ['heat,load,kind,hours,state'];
  for (let i = 0; i < rows; i++) {
    const [heat, load, hours] = [20 + 60 * next(), next() ** 3 * 1000, Math.floor(24 * next())];
    const kind = ['pump', 'fan', 'heater'][Math.floor(3 * next())];
    const bad = heat / 80 + Math.sin(load / 200) + (kind === 'fan' ? 0.4 : 0) + 0.3 * next() > 1.1;
    lines.push(`${next() < 0.02 ? '' : heat.toFixed(2)},${load.toFixed(1)},${kind},${hours},${bad ? 'bad' : 'good'}`);
  }
  return table(lines);
}

/** Seven classes on rings around the middle; the target is the first column. */
export function rings(rows) {
  const next = uniform(2);
  const lines = ['ring,x,y'];
  for (let i = 0; i < rows; i++) {
    const [x, y] = [6 * next() - 3, 6 * next() - 3];
    lines.push(`ring ${Math.min(Math.floor(1.5 * Math.hypot(x, y)), 6)},${x.toFixed(3)},${y.toFixed(3)}`);
  }
  return table(lines);
}

/** A number of six others, one of them with a heavy tail. */
export function numbers(rows) {
  const next = uniform(3);
  const lines = ['a,b,c,d,e,f,y'];
  for (let i = 0; i < rows; i++) {
    const [a, b, c, d, e] = Array.from({ length: 5 }, next);
    const f = Math.exp(8 * next() ** 2);
    const y = 10 * Math.sin(3 * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e + Math.log(f) + next();
    lines.push([a, b, c, d, e, f, y].map((value) => value.toFixed(4)).join(','));
  }
  return table(lines);
}

/** Rows of 40 readings without a header, of three shapes. */
export function waves(rows) {
  const next = uniform(4);
  const lines = [];
  for (let i = 0; i < rows; i++) {
    const [shape, phase, level] = [i % 3, 6.3 * next(), next()];
    const at = (t) => [Math.sin(t / 3 + phase), Math.sign(Math.sin(t / 3 + phase)), ((t / 19 + phase) % 1) * 2 - 1][shape];
    const readings = Array.from({ length: 40 }, (_, t) => (at(t) + level + 0.4 * next()).toFixed(3));
    lines.push(`${readings.join(';')};${shape}`);
  }
  return table(lines);
}

/** Whole numbers that are categories, and one of two classes that is rare. */
export function codes(rows) {
  const next = uniform(5);
  const lines = ['shop\tday\tamount\tfraud'];
  for (let i = 0; i < rows; i++) {
    const [shop, day] = [Math.floor(12 * next()), 1 + Math.floor(7 * next())];
    const amount = Math.floor(5000 * next() ** 4);
    const fraud = (shop % 5 === 2 && day > 5) !== next() < 0.03;
    lines.push(`${shop}\t${day}\t${amount}\t${fraud ? 1 : 0}`);
  }
  return table(lines);
}

/** Columns that are no categories: dates, names, and one whose own name is two for an option. */
export function diary(rows) {
  const next = uniform(6);
  const lines = ['when,heat,"who, exactly",load,state'];
  for (let i = 0; i < rows; i++) {
    const [day, heat, load] = [1 + (i % 28), 80 * next(), next()];
    const month = String(1 + (Math.floor(i / 28) % 12)).padStart(2, '0');
    lines.push(`2026-${month}-${String(day).padStart(2, '0')},${heat.toFixed(2)},person ${i},${load.toFixed(3)},${heat * load > 20 ? 'bad' : 'good'}`);
  }
  return table(lines);
}
