/**
 * Sentences for the core's errors, the same as `koan::Error` displays: a test
 * compares the two. They are put together here because formatting in wasm
 * would cost more bytes than everything else that this package adds.
 */

/** The names of `koan::Field`, in its order. */
const FIELDS = (
  'magic,version,header,trailer,flags,inputs,input map,bank,bank family,bank law,' +
  'bank options,bank features,bank scale,bin slot bits,maxout pool,conv shape,groups,' +
  'group inputs,group law,group scale,kept features,banks,head,score scale,score shift,' +
  'weights,section,section (twice),class names,golden rows,calibration'
).split(',');

/** The names of `koan::Feature`, in its order. */
const FEATURES = 'dense,fourier,stump,bin,maxout,sigmoid,conv,log,kept,widths'.split(',');

/**
 * @param kind as `Session::fail` in `wasm/src/session.rs` has them
 * @param a a number, whose meaning depends on the kind; and so `b`
 */
export function sentence(kind: number, a: number, b: number, text: string): string {
  switch (kind) {
    case 0:
      return 'out of memory';
    case 2:
      return `the blob ends before field \`${FIELDS[a]}\` at offset ${b}`;
    case 3:
      return `field \`${FIELDS[a]}\` at offset ${b} has a value that is not allowed`;
    case 4:
      return `unknown format version ${a}`;
    case 5:
      return `unknown required section ${a} at offset ${b}`;
    case 6:
      return `the model was trained with another generator (check word ${hex(a)}, this build's ${hex(b)}): is the wyhash feature \`mum32bit\` on?`;
    case 7:
      return 'not a koan blob: it does not start with the bytes KOAN';
    case 8:
      return 'checksum mismatch: the blob is damaged';
    case 9:
      return `the model needs the cargo feature \`${FEATURES[a]}\`, which is off in this build`;
    case 10:
      return `this call needs ${text}`;
    case 11:
      return `self test failed: ${text} ${a} differs on this build`;
    case 12:
      return wrongLength(text, b, a);
    default:
      return text;
  }
}

export const wrongLength = (what: string, given: number, needed: number): string =>
  `${what} has length ${given}, the model needs ${needed}`;

const hex = (word: number): string => `0x${word.toString(16).padStart(4, '0')}`;
