/** Where a table to train on is dropped; what trains is loaded only then. */

import { find } from './dom.js';
import { textOf } from './errors.js';
import type { Rows } from './table.js';

/**
 * @param use takes a model that was trained, and its table; whether its predictions are shown
 * @returns trains on a table
 */
export function offerTraining(
  use: (blob: ArrayBuffer, rows: Rows | undefined) => Promise<boolean>,
): (file: File) => void {
  const train = async (file: File | null | undefined): Promise<void> => {
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
  const input = find<HTMLInputElement>('#train-file');
  input.addEventListener('change', () => void train(input.files?.[0]));
  const drop = find('#train-drop');
  for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle('over', name === 'dragenter' || name === 'dragover');
    });
  }
  drop.addEventListener('drop', (event) => void train(event.dataTransfer?.files[0]));
  return (file) => void train(file);
}
