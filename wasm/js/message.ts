/**
 * Sentences for the core's errors, the same as `koan::Error` displays: a test
 * compares the two. They are put together here because formatting in wasm
 * would cost more bytes than everything else that this package adds.
 */

/** @param n two numbers, whose meaning depends on the kind */
export function sentence(kind: number, text: string, n: [number, number]): string {
  switch (kind) {
    case 1:
      return `the blob ends before field \`${text}\` at offset ${n[0]}`;
    case 2:
      return `field \`${text}\` at offset ${n[0]} has a value that is not allowed`;
    case 3:
      return `${text} ${n[0]}`;
    case 4:
      return `${text} ${n[0]} at offset ${n[1]}`;
    case 5:
      return `${text} (check word ${hex(n[0])}, this build's ${hex(n[1])}): is the wyhash feature \`mum32bit\` on?`;
    case 6:
      return wrongLength(text, n[1], n[0]);
    case 7:
      return `this call needs ${text}`;
    case 8:
      return `self test failed: ${text} ${n[0]} differs on this build`;
    case 9:
      return `the model needs the cargo feature \`${text}\`, which is off in this build`;
    default:
      return text;
  }
}

export const wrongLength = (what: string, given: number, needed: number): string =>
  `${what} has length ${given}, the model needs ${needed}`;

const hex = (word: number): string => `0x${word.toString(16).padStart(4, '0')}`;
