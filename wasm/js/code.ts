/**
 * Codes of two or three characters that stand for the names and values of columns in the
 * notes of a model; `host/data/src/code.rs` makes them.
 */

/** What JSON writes as it is: printable ASCII but quotes and backslashes. */
const SYMBOLS = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))
  .join('')
  .replace(/["\\]/g, '');
/** Values, at most, that have codes of two characters. */
const SHORT = 86;

export class Code {
  readonly #salt: number;

  constructor(
    salt: string,
    readonly width: number,
  ) {
    this.#salt = SYMBOLS.indexOf(salt);
    if (this.#salt < 0) throw new Error('the notes have a wrong salt');
  }

  /** The code and the values that stand one after another in a text. */
  static values(text: string): { code: Code; values: string[] } {
    const codes = text.slice(1);
    const width = codes.length <= 2 * SHORT ? 2 : 3;
    return { code: new Code(text[0]!, width), values: codes.match(new RegExp(`.{${width}}`, 'g')) ?? [] };
  }

  /** The characters that stand for a text. */
  text(text: string): string {
    let hash = 0x811c9dc5;
    for (const byte of [this.#salt, ...new TextEncoder().encode(text)]) {
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    let number = (hash ^ (hash >>> 16)) >>> 0;
    let code = '';
    for (let i = 0; i < this.width; i++) {
      code = SYMBOLS[number % SYMBOLS.length]! + code;
      number = Math.floor(number / SYMBOLS.length);
    }
    return code;
  }
}
