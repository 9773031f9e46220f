/** The front: test error against bytes, as a picture and as a table. */

import { element, errorOf } from './train-dom.js';
import type { Trained } from './train.js';

const [WIDTH, HEIGHT] = [640, 240];
const [LEFT, RIGHT, TOP, BOTTOM] = [72, 24, 16, 48];
const SVG = 'http://www.w3.org/2000/svg';

/** Draws the models so far; a click on one chooses it. */
export function draw(
  place: HTMLElement,
  models: readonly Trained[],
  current: Trained | undefined,
  choose: (model: Trained) => void,
): void {
  const sorted = models.toSorted((a, b) => a.report.bytes - b.report.bytes);
  place.replaceChildren(picture(sorted, current, choose), table(sorted, current, choose));
}

function svg(name: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text) made.textContent = text;
  return made;
}

function picture(models: Trained[], current: Trained | undefined, choose: (model: Trained) => void): SVGElement {
  const linear = models[0]?.report.baselines?.linear;
  const errors = models.map(({ report }) => report.error).concat(linear ?? []);
  const bytes = models.map(({ report }) => report.bytes);
  // Powers of two around all bytes, and a little room around all errors.
  const [low, high] = [Math.floor(Math.log2(Math.min(...bytes))), Math.floor(Math.log2(Math.max(...bytes))) + 1];
  const [least, most] = [Math.min(...errors), Math.max(...errors)];
  const room = Math.max(0.1 * (most - least), 0.005);
  const [bottom, top] = [Math.max(least - room, 0), most + room];
  const x = (bytes: number): number => LEFT + ((WIDTH - LEFT - RIGHT) * (Math.log2(bytes) - low)) / (high - low);
  const y = (error: number): number => TOP + ((HEIGHT - TOP - BOTTOM) * (top - error)) / (top - bottom);

  const drawn = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': 'Test error against bytes; the table below has the numbers' });
  for (let power = low; power <= high; power++) {
    drawn.append(
      svg('line', { class: 'grid', x1: x(2 ** power), x2: x(2 ** power), y1: TOP, y2: HEIGHT - BOTTOM }),
      svg('text', { x: x(2 ** power), y: HEIGHT - BOTTOM + 20, 'text-anchor': 'middle' }, (2 ** power).toLocaleString('en')),
    );
  }
  drawn.append(svg('text', { x: WIDTH - RIGHT, y: HEIGHT - 4, 'text-anchor': 'end' }, 'bytes'));
  for (const error of [bottom, (bottom + top) / 2, top]) {
    drawn.append(
      svg('line', { class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: y(error), y2: y(error) }),
      svg('text', { x: LEFT - 6, y: y(error) + 4, 'text-anchor': 'end' }, `${(100 * error).toFixed(1)} %`),
    );
  }
  if (linear !== undefined) {
    drawn.append(
      svg('line', { class: 'linear', x1: LEFT, x2: WIDTH - RIGHT, y1: y(linear), y2: y(linear) }),
      svg('text', { x: WIDTH - RIGHT, y: y(linear) - 5, 'text-anchor': 'end' }, 'a linear model'),
    );
  }
  const path = models.map(({ report }, index) => `${index ? 'L' : 'M'}${x(report.bytes)} ${y(report.error)}`);
  drawn.append(svg('path', { class: 'line', d: path.join('') }));
  for (const model of models) {
    const { report } = model;
    const point = svg('circle', { cx: x(report.bytes), cy: y(report.error), r: model === current ? 7 : 5 });
    point.classList.toggle('current', model === current);
    point.append(svg('title', {}, `${report.bytes} bytes, ${errorOf(report)}`));
    point.addEventListener('click', () => choose(model));
    drawn.append(point);
  }
  return drawn;
}

function table(models: Trained[], current: Trained | undefined, choose: (model: Trained) => void): HTMLElement {
  const heads = ['Model', 'Bytes', 'Test error', 'Seconds'].map((text) => element('th', { scope: 'col' }, text));
  const rows = models.map((model) => {
    const { report, seconds } = model;
    const pick = element('button', { type: 'button', 'aria-pressed': String(model === current) }, `${report.features} ${report.family} features`);
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
