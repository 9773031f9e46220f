/** Where a table to train on is dropped; what trains is loaded only then. */

import { find, takeFiles } from './dom.js';
import { textOf } from './errors.js';
import type { Rows } from './table.js';

/**
 * @param use takes a model that was trained, and its table; whether its predictions are shown
 * @returns trains on a table
 */
export function offerTraining(
  use: (blob: ArrayBuffer, rows: Rows | undefined) => Promise<boolean>,
): (file: File) => void {
  const train = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    find('#train-title').scrollIntoView({ behavior: 'smooth' });
    try {
      const module = (await import(new URL('./train.js', import.meta.url).href)) as typeof import('./train.js');
      await module.train(file, use);
    } catch (error) {
      const problem = document.createElement('p');
      problem.className = 'problem';
      problem.setAttribute('role', 'alert');
      problem.textContent = `${file.name}: what trains could not be loaded (${textOf(error)}). Is there a network?`;
      find('#training').replaceChildren(problem);
    }
  };
  takeFiles('#train-drop', ([file]) => void train(file));
  return (file) => void train(file);
}
