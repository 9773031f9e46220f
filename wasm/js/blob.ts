/**
 * What a blob says of itself, byte by byte as `docs/format.md` has it. Numbers with names are
 * enumerations that the build writes out: a page loads no names.
 */

/** Offsets of the header, from the version on. */
export const enum At {
  Version = 4,
  Flags = 5,
  Inputs = 6,
  Outputs = 8,
  Seed = 9,
  CheckWord = 17,
  Maps = 19,
}

/** The bit of the flags that says that the outputs are class scores. */
export const CLASSIFICATION = 1;

export const enum Section {
  ClassNames = 1,
  Notes = 2,
  GoldenRows = 3,
  Calibration = 4,
}

/** Bytes behind the sections: the golden digest and the checksum. */
export const TRAILER = 8;

/** Bytes of parameters that the families' banks have, by the families' codes. */
const PARAMETERS = [0, 0, 0, 1, 3, 0, 5, 1, 7];
/** All families. */
const ALL = 0x1ff;

/** Families with columns that are 0 but for one. */
const enum OneHot {
  Bin = 3,
  Fern = 7,
}

/** Bits of a bank's options. */
const enum Option {
  Groups = 16,
  More = 32,
  Kept = 64,
}

/** What stands for 1 in features. */
const ONE = 127;

/** CRC-32 (IEEE 802.3), bit by bit; `crc`: of the bytes before. */
export function crc32(bytes: Uint8Array, crc = 0): number {
  crc = ~crc;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

/** The bytes that an array lies in. */
export const viewOf = <T extends ArrayBufferLike>(array: ArrayBufferView<T>): Uint8Array<T> =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

export const decoded = (bytes: AllowSharedBufferSource): string => new TextDecoder().decode(bytes);

/** A view that reads numbers. */
export const numbersOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** The bytes of a section, of those that start at `at`; none if the model has none. */
export function section(blob: Uint8Array, at: number, tag: number): Uint8Array {
  while (at < blob.length - TRAILER) {
    const start = at + 3;
    const end = start + numbersOf(blob).getUint16(at + 1, true);
    if (blob[at] === tag) return blob.subarray(start, end);
    at = end;
  }
  return blob.subarray(0, 0);
}

/** A bank: its family, how many features it has, and for bins and ferns the slots of each, else 0. */
interface Bank {
  readonly family: number;
  readonly features: number;
  readonly slots: number;
}

/** The banks of a blob. Of one that was not checked, what they may be: it ends, whatever the bytes. */
function* banks(blob: Uint8Array): Generator<Bank> {
  // Beyond the end there is nothing, which counts as 0.
  const half = (at: number): number => blob[at]! | (blob[at + 1]! << 8);
  const inputs = half(At.Inputs);
  // One map, one for each input, gains for each input, or a map for each channel.
  const kind = (blob[At.Flags]! >> 1) & 3;
  let at = At.Maps + [6, 6 * inputs, 5 + inputs, 1 + 6 * blob[At.Maps]!][kind]!;
  let options: number;
  do {
    const family = blob[at]! & 15;
    options = blob[at + 1]!;
    const features = half(at + 2);
    at += 6;
    yield { family, features, slots: family === OneHot.Bin || family === OneHot.Fern ? 1 << blob[at]! : 0 };
    at += PARAMETERS[family]!;
    if (options & Option.Groups) at += 1 + 5 * blob[at]!;
    if (options & Option.Kept) at += 3 + half(at + 1);
  } while (options & Option.More);
}

/** The families of a blob's banks, those that there are: a bit for each by its code. */
export function familiesOf(blob: Uint8Array): number {
  let families = 0;
  for (const { family } of banks(blob)) families |= 1 << family;
  return families & ALL;
}

/** The golden digest's CRC-32 of features: of bins and ferns, the column of each. */
export function digestOf(blob: Uint8Array, vector: Int16Array, digest: number): number {
  let at = 0;
  for (const { features, slots } of banks(blob)) {
    const end = at + features * (slots || 1);
    const bank = vector.subarray(at, end);
    if (slots) {
      for (let grid = 0; grid < bank.length; grid += slots) {
        digest = crc32(viewOf(Uint32Array.of(bank.indexOf(ONE, grid))), digest);
      }
    } else {
      digest = crc32(viewOf(bank), digest);
    }
    at = end;
  }
  return digest;
}

/** Whether a blob's checksum holds. */
export function isIntact(blob: Uint8Array): boolean {
  const end = blob.length - 4;
  return end >= 0 && crc32(blob.subarray(0, end)) === numbersOf(blob).getUint32(end, true);
}
