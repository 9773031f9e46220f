/** The digit that the page draws by itself when it opens: a 3, as one hand draws it. */

import type { Stroke } from './digit.js';

/** Milliseconds that drawing it takes. */
export const TIME = 1400;

/** Points on an ellipse, from one angle to another, in turns. */
function arc(x: number, y: number, rx: number, ry: number, from: number, to: number): Stroke {
  return Array.from({ length: 40 }, (_, i) => {
    const angle = 2 * Math.PI * (from + ((to - from) * i) / 39);
    return { x: x + rx * Math.cos(angle), y: y + ry * Math.sin(angle) };
  });
}

export const DIGIT: Stroke[] = [
  [...arc(0.47, 0.31, 0.2, 0.17, -0.42, 0.25), ...arc(0.47, 0.67, 0.22, 0.19, -0.25, 0.42)],
];
