/** Small parts of the page that trains. */

import type { Report } from './train-messages.js';

/** An element with attributes and contents. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...contents: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...contents);
  return made;
}

/** A model's error on the test rows, in words. */
export function errorOf({ task, error }: Report): string {
  return `${(100 * error).toFixed(2)} % ${task === 'classification' ? 'misclassified' : 'relative error'}`;
}

/** The command that makes the same model. */
export function command(file: string, target: string | undefined, options: string): string {
  const quoted = (text: string): string =>
    /^[\w.,/@%+=:-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
  const own = target === undefined ? '' : ` --target ${quoted(target)}`;
  return `koan train ${quoted(file)}${own} --missing impute ${options} -o model.koan`;
}

/** Gives bytes to the user as a file. */
export function download(name: string, bytes: Uint8Array): void {
  const url = URL.createObjectURL(new Blob([new Uint8Array(bytes)]));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
