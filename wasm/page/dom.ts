/** The element that a selector means; the page has it. */
export function find<T extends HTMLElement = HTMLElement>(
  selector: string,
  within: ParentNode = document,
): T {
  const element = within.querySelector<T>(selector);
  if (!element) throw new Error(`the page has no ${selector}`);
  return element;
}

/**
 * Takes the files that are dropped on a place, or chosen in an input in it.
 *
 * @param take called with the files, and the name of the input
 */
export function takeFiles(selector: string, take: (files: File[], input?: string) => void): void {
  const place = find(selector);
  for (const input of place.querySelectorAll<HTMLInputElement>('[type=file]')) {
    input.addEventListener('change', () => take([...(input.files ?? [])], input.id));
    // The same file may be chosen again after it was changed.
    input.addEventListener('click', () => (input.value = ''));
  }
  for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    place.addEventListener(name, (event) => {
      event.preventDefault();
      place.classList.toggle('over', name === 'dragenter' || name === 'dragover');
    });
  }
  place.addEventListener('drop', (event) => take([...(event.dataTransfer?.files ?? [])]));
}
