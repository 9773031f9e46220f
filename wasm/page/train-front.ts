/** The front: test error against bytes, as a picture and as a table. */

import { element, errorOf } from './train-dom.js';
import type { Trained } from './train.js';

/** Pixels; the picture is as wide as its place, up to this. */
const [WIDEST, HEIGHT] = [736, 240];
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 28, 16, 48];
/** Pixels between two numbers below the picture, at least. */
const APART = 48;
const SVG = 'http://www.w3.org/2000/svg';

/** Draws the models so far; a click on one chooses it. */
export function draw(
  place: HTMLElement,
  models: readonly Trained[],
  current: Trained | undefined,
  choose: (model: Trained) => void,
): void {
  const sorted = models.toSorted((a, b) => a.report.bytes - b.report.bytes);
  const width = Math.min(place.clientWidth || WIDEST, WIDEST);
  place.replaceChildren(picture(sorted, current, choose, width), table(sorted, current, choose));
}

function svg(name: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text) made.textContent = text;
  return made;
}

/** A step of 1, 2 or 5 and zeros that divides a range into two to five parts. */
function stepOf(range: number): number {
  const power = 10 ** Math.floor(Math.log10(range / 2));
  return [5, 2, 1].map((times) => times * power).find((step) => range / step >= 2) ?? power;
}

function picture(
  models: Trained[],
  current: Trained | undefined,
  choose: (model: Trained) => void,
  width: number,
): SVGElement {
  const linear = models[0]?.report.baselines?.linear;
  const errors = models.map(({ report }) => 100 * report.error).concat(linear === undefined ? [] : 100 * linear);
  const bytes = models.map(({ report }) => report.bytes);
  // Powers of two around all bytes, and round numbers around all errors.
  const [low, high] = [Math.floor(Math.log2(Math.min(...bytes))), Math.floor(Math.log2(Math.max(...bytes))) + 1];
  const [least, most] = [Math.min(...errors), Math.max(...errors)];
  const step = stepOf(Math.max(most - least, 0.2));
  const bottom = Math.floor(least / step);
  const top = Math.max(Math.ceil(most / step), bottom + 1);
  const x = (bytes: number): number => LEFT + ((width - LEFT - RIGHT) * (Math.log2(bytes) - low)) / (high - low);
  const y = (percent: number): number => TOP + ((HEIGHT - TOP - BOTTOM) * (top - percent / step)) / (top - bottom);

  const drawn = svg('svg', { viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', 'aria-label': 'Test error against bytes; the table below has the numbers' });
  const line = (kind: string, x1: number, x2: number, y1: number, y2: number): SVGElement =>
    svg('line', { class: kind, x1, x2, y1, y2 });
  const label = (x: number, y: number, anchor: string, text: string): SVGElement =>
    svg('text', { x, y, 'text-anchor': anchor }, text);
  const every = Math.ceil((APART * (high - low)) / (width - LEFT - RIGHT));
  for (let power = low; power <= high; power++) {
    drawn.append(line('grid', x(2 ** power), x(2 ** power), TOP, HEIGHT - BOTTOM));
    if ((power - low) % every > 0) continue;
    drawn.append(label(x(2 ** power), HEIGHT - BOTTOM + 20, 'middle', (2 ** power).toLocaleString('en')));
  }
  drawn.append(label(width - RIGHT, HEIGHT - 6, 'end', 'bytes'));
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  for (let tick = bottom; tick <= top; tick++) {
    drawn.append(
      line('grid', LEFT, width - RIGHT, y(tick * step), y(tick * step)),
      label(LEFT - 6, y(tick * step) + 4, 'end', `${(tick * step).toFixed(digits)} %`),
    );
  }
  if (linear !== undefined) {
    // Below the picture, where no line and no model is in the way of its name.
    drawn.append(
      line('linear', LEFT, width - RIGHT, y(100 * linear), y(100 * linear)),
      line('linear', LEFT, LEFT + 28, HEIGHT - 10, HEIGHT - 10),
      label(LEFT + 34, HEIGHT - 6, 'start', 'a linear model'),
    );
  }
  const path = models.map(({ report }, index) => `${index ? 'L' : 'M'}${x(report.bytes)} ${y(100 * report.error)}`);
  drawn.append(svg('path', { class: 'line', d: path.join('') }));
  for (const model of models) {
    const { report } = model;
    const point = svg('circle', { cx: x(report.bytes), cy: y(100 * report.error), r: model === current ? 7 : 5 });
    point.classList.toggle('current', model === current);
    point.append(svg('title', {}, `${report.bytes} bytes, ${errorOf(report)}`));
    point.addEventListener('click', () => choose(model));
    drawn.append(point);
  }
  return drawn;
}

function table(models: Trained[], current: Trained | undefined, choose: (model: Trained) => void): HTMLElement {
  const heads = ['Model', 'Bytes', 'error', 'Seconds'].map((text) => element('th', { scope: 'col' }, text));
  heads[2]!.prepend(element('span', {}, 'Test '));
  const rows = models.map((model) => {
    const { report, seconds } = model;
    const pick = element('button', { type: 'button', 'aria-pressed': String(model === current) }, `${report.features} ${report.family}`, element('span', {}, ' features'));
    pick.addEventListener('click', () => choose(model));
    const cells = [report.bytes.toLocaleString('en'), `${(100 * report.error).toFixed(2)} %`, seconds.toFixed(1)];
    const row = element('tr', {}, element('td', {}, pick), ...cells.map((text) => element('td', {}, text)));
    row.classList.toggle('current', model === current);
    return row;
  });
  return element(
    'div',
    { class: 'results', tabindex: '0', role: 'region', 'aria-label': 'Models' },
    element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows)),
  );
}
