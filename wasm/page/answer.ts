/** What the model says of a drawing: the digit, the bars, and whether it is one at all. */

import { find } from './dom.js';

/** One bar for each class. */
let bars: HTMLElement[] = [];

function makeBars(names: readonly string[]): void {
  if (bars.map((bar) => bar.dataset['name']).join() === names.join()) return;
  bars = names.map((name) => {
    const item = document.createElement('li');
    item.dataset['name'] = name;
    item.innerHTML =
      '<span></span><span class="track"><span class="fill"></span></span><span class="share"></span>';
    find('span', item).textContent = name;
    return item;
  });
  find('#bars').replaceChildren(...bars);
}

/** Nothing is drawn. */
export function clear(names: readonly string[]): void {
  makeBars(names);
  for (const item of bars) fill(item, 0, '', false);
  find('#answer').textContent = 'Nothing drawn yet';
  for (const id of ['#answer', '#bars']) find(id).classList.remove('none');
  showLikeness(undefined);
}

/**
 * Shows probabilities.
 *
 * @param likeness above 0 for what is like a digit, below for what is not
 */
export function show(names: readonly string[], probabilities: Float32Array, likeness: number): void {
  makeBars(names);
  const best = probabilities.indexOf(Math.max(...probabilities));
  bars.forEach((item, digit) => {
    fill(item, probabilities[digit]!, percent(probabilities[digit]!), digit === best);
  });
  const answer = find('#answer');
  const none = likeness <= 0;
  answer.classList.toggle('none', none);
  find('#bars').classList.toggle('none', none);
  const word = document.createElement('b');
  word.textContent = none ? 'Not a digit' : names[best]!;
  answer.replaceChildren(word, none ? ` nearest: ${names[best]}` : ` ${percent(probabilities[best]!)} sure`);
  showLikeness(likeness);
}

function fill(item: HTMLElement, share: number, text: string, best: boolean): void {
  item.classList.toggle('best', best);
  find('.fill', item).style.width = `${100 * share}%`;
  find('.share', item).textContent = text;
}

/** Likeness that fills half the bar: the threshold is in its middle. */
const HALF = 0.4;

function showLikeness(likeness: number | undefined): void {
  const box = find('#likeness');
  const share = likeness === undefined ? 0 : Math.min(Math.max(0.5 + (0.5 * likeness) / HALF, 0), 1);
  find('.fill', box).style.width = `${100 * share}%`;
  box.classList.toggle('none', likeness !== undefined && likeness <= 0);
  find('.share', box).textContent = likeness === undefined ? '' : likeness > 0 ? 'yes' : 'no';
}

/** At most 99.9 %: nobody is ever quite sure. */
const percent = (share: number): string => `${Math.min(100 * share, 99.9).toFixed(1)} %`;
