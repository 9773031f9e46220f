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

const quoted = (text: string): string =>
  /^[\w.,/@%+=:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
const path = (file: string): string => quoted(file.startsWith('-') ? `./${file}` : file);
const option = (name: string, value: string): string =>
  value === '' ? '' : ` --${name}${value.startsWith('-') ? '=' : ' '}${quoted(value)}`;

/** A table, and the shell's words that make it of the file that it came from. */
export interface Source {
  file: string;
  /** So many lines of the file; all if there is no number. */
  lines?: number | undefined;
}

/** The command that makes the same model. */
export function command({ file, lines }: Source, target: string | undefined, drop: string[], options: string): string {
  const all = /\.gz$/i.test(file) ? `gunzip -c ${path(file)}` : `cat ${path(file)}`;
  // By the ending `.tsv` the command takes tabs.
  const part = `first${/\.\w+$/.exec(file.replace(/\.gz$/i, ''))?.[0] ?? '.csv'}`;
  const first = lines === undefined ? '' : `${all} | head -n ${lines} > ${part} && `;
  const table = lines === undefined ? path(file) : part;
  const columns = option('target', target ?? '') + option('drop', drop.join(','));
  return `${first}koan train ${table}${columns} --missing impute ${options} -o model.koan`;
}

/**
 * A column as the command's options have it: its name, or its number where the name is none, would be
 * a number, or would be several names.
 */
export function nameOf(names: readonly string[], index: number): string {
  const name = names[index]!;
  if (name && !/^[-+]?\d+$/.test(name) && !name.includes(',')) return name;
  const number = String(index + 1);
  const taken = names.some((other, at) => other === number && at !== index);
  return taken ? String(index - names.length) : number;
}

/** Gives bytes to the user as a file. */
export function download(name: string, bytes: Uint8Array): void {
  const url = URL.createObjectURL(new Blob([new Uint8Array(bytes)]));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
