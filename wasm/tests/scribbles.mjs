// Drawings that are no digits, as a hand makes them, and digits as another hand draws them:
// strokes of points in a unit square, the same for every seed.

import { STROKES } from './strokes.mjs';

/** Numbers from 0 to 1, the same for a seed (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const inside = (value) => Math.min(Math.max(value, 0.06), 0.94);
const place = (random) => [inside(random()), inside(random())];

/** A smooth line through points: Catmull-Rom, eight pieces between two of them. */
function smooth(points) {
  const at = (i) => points[Math.min(Math.max(i, 0), points.length - 1)];
  const line = [];
  for (let i = 0; i + 1 < points.length; i++) {
    const [before, from, to, after] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
    for (let step = 0; step < 8; step++) {
      const t = step / 8;
      line.push([0, 1].map((axis) => {
        const [a, b, c, d] = [before[axis], from[axis], to[axis], after[axis]];
        const bend = (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t;
        return inside(0.5 * (2 * b + (c - a) * t + bend));
      }));
    }
  }
  line.push(at(points.length - 1));
  return line;
}

/** The kinds of scribbles; each takes random numbers and gives strokes. */
export const SCRIBBLES = {
  /** A wild line that turns at many places. */
  tangle: (random) => [smooth(Array.from({ length: 10 + Math.floor(8 * random()) }, () => place(random)))],
  /** The same with corners. */
  corners: (random) => [Array.from({ length: 8 + Math.floor(6 * random()) }, () => place(random))],
  /** To and fro, as one fills a box. */
  zigzag: (random) => {
    const turns = 8 + Math.floor(8 * random());
    const flip = random() < 0.5;
    const line = Array.from({ length: turns }, (_, i) => {
      const along = 0.1 + (0.8 * i) / (turns - 1);
      const across = (i % 2 ? 0.85 : 0.15) + 0.2 * (random() - 0.5);
      return flip ? [along, across] : [across, along];
    });
    return [line];
  },
  /** Rounds that grow. */
  spiral: (random) => {
    const [turns, start, way] = [2.5 + 2 * random(), random(), random() < 0.5 ? 1 : -1];
    const line = Array.from({ length: 90 }, (_, i) => {
      const angle = 2 * Math.PI * (start + (way * turns * i) / 89);
      const radius = 0.04 + (0.38 * i) / 89;
      return [0.5 + radius * Math.cos(angle), 0.5 + radius * Math.sin(angle)];
    });
    return [line];
  },
  /** Several straight lines, across each other. */
  lines: (random) => Array.from({ length: 5 + Math.floor(4 * random()) }, () => [place(random), place(random)]),
  /** Loops in a row, as a bored hand draws them. */
  loops: (random) => {
    const [turns, width] = [4 + Math.floor(3 * random()), 0.1 + 0.08 * random()];
    const tilt = 0.3 * (random() - 0.5);
    const line = Array.from({ length: 24 * turns }, (_, i) => {
      const along = i / (24 * turns - 1);
      const angle = 2 * Math.PI * turns * along;
      return [inside(0.15 + 0.7 * along + width * Math.cos(angle)), inside(0.5 + tilt * (along - 0.5) + 0.25 * Math.sin(angle))];
    });
    return [line];
  },
};

/** Scribbles of every kind in turn. */
export function scribbles(count, seed) {
  const random = randomOf(seed);
  const kinds = Object.entries(SCRIBBLES);
  return Array.from({ length: count }, (_, i) => {
    const [kind, make] = kinds[i % kinds.length];
    return { kind, strokes: make(random) };
  });
}

/** The test's digits, leaning, stretched and shaken a little as another hand would. */
export function drawnDigits(count, seed) {
  const random = randomOf(seed);
  const about = (spread) => spread * (2 * random() - 1);
  return Array.from({ length: count }, (_, i) => {
    const digit = i % 10;
    const [lean, wide, turn] = [about(0.15), 1 + about(0.15), about(0.1)];
    const strokes = STROKES[digit].map((stroke) => stroke.map(([x, y]) => {
      const [u, v] = [x - 0.5, y - 0.5];
      const [p, q] = [wide * u - lean * v, v];
      return [inside(0.5 + p - turn * q + about(0.005)), inside(0.5 + q + turn * p + about(0.005))];
    }));
    return { digit, strokes };
  });
}
