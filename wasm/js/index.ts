/**
 * Koan models in a page or a Worker: the wasm lies beside this file and is
 * fetched when the first model is loaded.
 *
 * @module
 */

import { hasSimd, host } from './runtime.js';

host.runtime = () =>
  hasSimd()
    ? new URL('./koan-simd.wasm', import.meta.url)
    : new URL('./koan.wasm', import.meta.url);

export * from './slim.js';
