/** Sentences for errors, the same as `koan::Error` displays: a test compares the two. */

/** Numbers of sentences: those for faults, and one behind them about another generator. */
export const enum Sentence {
  Damaged = 5,
  Generator = 7,
}

export const DAMAGED = 'checksum mismatch: the blob is damaged';

/**
 * A blob was refused by a runtime that has no sentences: those are in the builds for all, so that a
 * page that needs none loads none.
 */
export class Untold extends Error {}

/**
 * Why a blob was refused: the sentence for a number of `koan::format::Fault` in the runtime's section
 * `words`, whose first line has the names of `koan::Field`, in its order (`wasm/src/words.txt`).
 */
export function refusal(words: string | undefined, number: number, field: number, places: object): Error {
  if (!words && number === Sentence.Damaged) return new Error(DAMAGED);
  if (!words) return new Untold('the model is refused: koan.wasm says why');
  const lines = words.split('\n');
  const values: Record<string, unknown> = { field: lines[0]!.split(',')[field], ...places };
  return new Error(lines[number]!.replace(/{(\w+)}/g, (_, name) => String(values[name])));
}

/** The model needs more than it was loaded with. */
export const tooMuchWork = (needed: number, limit: number): string =>
  `the model's work is ${needed}, more than the limit of ${limit}`;

export const wrongLength = (what: string, given: number, needed: number): string =>
  `${what} has length ${given}, the model needs ${needed}`;

export const unsuited = (needs: string): string => `this call needs ${needs}`;

/** @param check what differs: the golden digest, or a golden row and its number */
export const selfTestFailed = (check: string): string =>
  `self test failed: ${check} differs on this build`;
