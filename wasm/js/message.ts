/**
 * Sentences for the core's errors, the same as `koan::Error` displays: a test
 * compares the two. They are put together here because formatting in wasm
 * would cost more bytes than everything else that this package adds.
 */

/** The names of `koan::Field`, in its order. */
const FIELDS =
  'magic,version,header,trailer,flags,inputs,input map,bank,bank family,bank law,' +
  'bank options,bank features,bank scale,bin slot bits,maxout pool,conv shape,fern depth,' +
  'series shape,groups,group inputs,group law,group scale,kept features,banks,head,' +
  'score scale,score shift,weights,section,section (twice),class names,golden rows,calibration,work';

/** Numbers of `koan::format::Fault`; the last is a required section that is unknown. */
const Fault = { Truncated: 1, Value: 2, NotKoan: 3, Version: 4, Checksum: 5 } as const;

export const DAMAGED = 'checksum mismatch: the blob is damaged';

/**
 * Why a blob was refused.
 *
 * @param fault what is wrong, with the field's number, and the offset where it starts
 */
export function refusal(blob: Uint8Array, fault: number, field: number, offset: number): string {
  const place = `field \`${FIELDS.split(',')[field]}\` at offset ${offset}`;
  switch (fault) {
    case Fault.Truncated:
      return `the blob ends before ${place}`;
    case Fault.Value:
      return `${place} has a value that is not allowed`;
    case Fault.NotKoan:
      return 'not a koan blob: it does not start with the bytes KOAN';
    case Fault.Version:
      return `unknown format version ${blob[4]}`;
    case Fault.Checksum:
      return DAMAGED;
    default:
      return `unknown required section ${blob[offset]} at offset ${offset}`;
  }
}

/** The model needs more than it was loaded with. */
export const tooMuchWork = (needed: number, limit: number): string =>
  `the model's work is ${needed}, more than the limit of ${limit}`;

/** The model's check word is not this build's. */
export const wrongGenerator = (expected: number, actual: number): string =>
  `the model was trained with another generator (check word ${hex(expected)}, this build's ${hex(actual)}): is the wyhash feature \`mum32bit\` on?`;

export const wrongLength = (what: string, given: number, needed: number): string =>
  `${what} has length ${given}, the model needs ${needed}`;

export const unsuited = (needs: string): string => `this call needs ${needs}`;

/** @param check what differs: the golden digest or a golden row, and its number */
export const selfTestFailed = (check: string): string =>
  `self test failed: ${check} differs on this build`;

const hex = (word: number): string => `0x${word.toString(16).padStart(4, '0')}`;
