/** A QR code of a link; the page loads this when somebody asks for one. */

import { correction, generate, mode } from 'lean-qr';

/** Modules of light around a code, as its standard has it. */
const QUIET = 4;

/**
 * Draws a code on a canvas, a whole number of pixels for each module.
 *
 * @param link the start of a link, and the digits behind it
 * @throws if there are too many for a code
 */
export function draw(canvas: HTMLCanvasElement, [start, digits]: [string, string]): void {
  const code = generate(mode.multi(mode.ascii(start), mode.numeric(digits)), {
    maxCorrectionLevel: correction.L,
  });
  const side = code.size + 2 * QUIET;
  const scale = Math.max(Math.floor(1200 / side), 1);
  canvas.width = canvas.height = scale * side;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = '#000';
  for (let y = 0; y < code.size; y++) {
    for (let x = 0; x < code.size; x++) {
      if (code.get(x, y)) context.fillRect(scale * (x + QUIET), scale * (y + QUIET), scale, scale);
    }
  }
}
