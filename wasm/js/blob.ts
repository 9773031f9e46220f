/** What a blob says of itself, byte by byte as `docs/format.md` has it. */

/** Offsets of the header, from the version on. */
export const At = { Flags: 5, Inputs: 6, Outputs: 8, Seed: 9, CheckWord: 17, Maps: 19 } as const;

/** The bit of the flags that says that the outputs are class scores. */
export const CLASSIFICATION = 1;

export const Section = { ClassNames: 1, Notes: 2, GoldenRows: 3, Calibration: 4 } as const;

/** Bytes behind the sections: the golden digest and the checksum. */
export const TRAILER = 8;

/** Bytes of parameters that the families' banks have, by the families' codes. */
const PARAMETERS = [0, 0, 0, 1, 3, 0, 5, 1, 7];
/** Families with columns that are 0 but for one. */
const ONE_HOT = { Bin: 3, Fern: 7 } as const;

/** Bits of a bank's options. */
const Option = { Groups: 16, More: 32, Kept: 64 } as const;

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
export const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

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

/**
 * The banks of a checked blob: how many features each has, and for bins and ferns the number
 * of slots of each, else 0.
 */
export function* banks(blob: Uint8Array): Generator<{ features: number; slots: number }> {
  const numbers = numbersOf(blob);
  const inputs = numbers.getUint16(At.Inputs, true);
  // One map, one for each input, gains for each input, or a map for each channel.
  const kind = (blob[At.Flags]! >> 1) & 3;
  let at = At.Maps + [6, 6 * inputs, 5 + inputs, 1 + 6 * blob[At.Maps]!][kind]!;
  let options: number;
  do {
    const family = blob[at]! & 15;
    options = blob[at + 1]!;
    const features = numbers.getUint16(at + 2, true);
    at += 6;
    const slotted = family === ONE_HOT.Bin || family === ONE_HOT.Fern;
    yield { features, slots: slotted ? 1 << blob[at]! : 0 };
    at += PARAMETERS[family]!;
    if (options & Option.Groups) at += 1 + 5 * blob[at]!;
    if (options & Option.Kept) at += 3 + numbers.getUint16(at + 1, true);
  } while (options & Option.More);
}
