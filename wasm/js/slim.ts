/**
 * The package without its wasm: call {@link init} with `koan-wasm/koan.wasm` or
 * `koan-wasm/koan-simd.wasm`, however your page has loaded it.
 *
 * @module
 */

export { embed, Model, type Info, type Limits, type Row } from './model.js';
export { hasSimd, init, type Source } from './runtime.js';
