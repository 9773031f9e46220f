/** A page or a Worker: the wasm lies beside the script, and is fetched when it is needed. */

import { fetched, hasSimd } from '../engine.js';
import type { Host } from './host.js';

export const host: Host = {
  runtime: () =>
    hasSimd()
      ? new URL('./koan-simd.wasm', import.meta.url)
      : new URL('./koan.wasm', import.meta.url),
  open: fetched,
};
