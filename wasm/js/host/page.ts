/** A page or a Worker: the wasm lies beside the script, and is fetched when it is needed. */

import { fetched, hasSimd } from '../engine.js';
import type { Host } from './host.js';

/** The families of `koan-tables.wasm`, all but conv and series, and of `koan-images.wasm`. */
const enum Families {
  Tables = 0b0_1011_1111,
  Images = 0b1_0100_0001,
}

export const host: Host = {
  runtime: () =>
    hasSimd()
      ? new URL('./koan-simd.wasm', import.meta.url)
      : new URL('./koan.wasm', import.meta.url),
  part(families) {
    // Without SIMD there is the one for all.
    if (!hasSimd()) return undefined;
    if (!(families & ~Families.Tables)) return new URL('./koan-tables.wasm', import.meta.url);
    if (!(families & ~Families.Images)) return new URL('./koan-images.wasm', import.meta.url);
    return undefined;
  },
  open: fetched,
};
