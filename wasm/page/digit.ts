/**
 * From strokes to the 8 × 8 numbers that the model was trained on.
 *
 * The data set (UCI "Optical Recognition of Handwritten Digits") was made with
 * NIST's form programs: a digit is scaled to a bitmap of 32 × 32, as high as the
 * bitmap and centred, its strokes are thinned or thickened until it has about
 * as much ink as the others, and the set pixels of each block of 4 × 4 are counted.
 */

export interface Point {
  x: number;
  y: number;
}
export type Stroke = Point[];

const SIDE = 32;
/** Set pixels of the data set's digits, on average: 314 of 1,024. */
const INK = 314;
/** The widest that a digit becomes: NIST's box is 20 × 32; slanted ones exceed it a little. */
const WIDEST = 24;
/** Half the thickness of a stroke, in pixels. */
const THINNEST = 1.4;
const THICKEST = 4.6;

/** The counts, 0 to 16, row by row; `undefined` where nothing is drawn. */
export function reduce(strokes: readonly Stroke[]): Uint8Array | undefined {
  const points = strokes.flat();
  if (points.length === 0) return undefined;
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];

  let radius = (THINNEST + THICKEST) / 2;
  let distances = new Float32Array(SIDE * SIDE);
  // The scale leaves room for half a stroke, whose thickness follows from the scale.
  for (let round = 0; round < 4; round++) {
    const scale = Math.min(
      (SIDE - 2 * radius) / Math.max(bottom - top, 1e-9),
      (WIDEST - 2 * radius) / Math.max(right - left, 1e-9),
      // A dot stays a dot.
      1e6,
    );
    const place = ({ x, y }: Point): Point => ({
      x: SIDE / 2 + (x - (left + right) / 2) * scale,
      y: SIDE / 2 + (y - (top + bottom) / 2) * scale,
    });
    distances = distancesTo(strokes.map((stroke) => stroke.map(place)));
    const wanted = distances.slice().sort()[INK]!;
    radius = Math.min(Math.max(wanted, THINNEST), THICKEST);
  }

  const counts = new Uint8Array(64);
  distances.forEach((distance, pixel) => {
    const [row, column] = [Math.floor(pixel / SIDE), pixel % SIDE];
    if (distance <= radius) counts[8 * (row >> 2) + (column >> 2)]! += 1;
  });
  return counts;
}

/** For each pixel's centre the distance to the nearest stroke. */
function distancesTo(strokes: Stroke[]): Float32Array<ArrayBuffer> {
  const squares = new Float32Array(SIDE * SIDE).fill(Infinity);
  for (const stroke of strokes) {
    stroke.forEach((to, index) => {
      const from = stroke[Math.max(index - 1, 0)]!;
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      const length = dx * dx + dy * dy;
      for (let pixel = 0; pixel < squares.length; pixel++) {
        const x = (pixel % SIDE) + 0.5 - from.x;
        const y = Math.floor(pixel / SIDE) + 0.5 - from.y;
        const along = length ? Math.min(Math.max((x * dx + y * dy) / length, 0), 1) : 0;
        const [rx, ry] = [x - along * dx, y - along * dy];
        squares[pixel] = Math.min(squares[pixel]!, rx * rx + ry * ry);
      }
    });
  }
  return squares.map(Math.sqrt);
}
