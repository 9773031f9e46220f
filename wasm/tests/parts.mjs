// Which build of the runtime a page loads for a model, read from its blob as `docs/format.md` has it.

/** Bytes of parameters of the families' banks, by the families' codes. */
const PARAMETERS = [0, 0, 0, 1, 3, 0, 5, 1, 7];
const [CONV, SERIES, LINEAR] = [6, 8, 0];

/** The families of a model that is sound. */
export function families(blob) {
  const bytes = Buffer.from(blob);
  const inputs = bytes.readUInt16LE(6);
  let at = 19 + [6, 6 * inputs, 5 + inputs, 1 + 6 * bytes[19]][(bytes[5] >> 1) & 3];
  const found = new Set();
  for (;;) {
    const [family, options] = [bytes[at] & 15, bytes[at + 1]];
    found.add(family);
    at += 6 + PARAMETERS[family];
    if (options & 16) at += 1 + 5 * bytes[at];
    if (options & 64) at += 3 + bytes.readUInt16LE(at + 1);
    if (!(options & 32)) return found;
  }
}

/** The file that a page loads for it. */
export function partOf(blob) {
  const found = [...families(blob)];
  if (found.every((family) => family !== CONV && family !== SERIES)) return 'koan-tables.wasm';
  const isImages = found.every((family) => [LINEAR, CONV, SERIES].includes(family));
  return isImages ? 'koan-images.wasm' : 'koan-simd.wasm';
}

export const PARTS = ['koan-tables.wasm', 'koan-images.wasm'];
