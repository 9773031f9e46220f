import type { OwnBytes } from './runtime.js';

/**
 * A runtime that carries a model: `Model.load` of the compiled result needs no
 * second file.
 *
 * @param runtime the bytes of `koan.wasm` or `koan-simd.wasm`
 * @param blob the model's bytes
 */
export function embed(runtime: Uint8Array, blob: Uint8Array): OwnBytes {
  const name = new TextEncoder().encode('koan');
  const content = [...leb128(name.length), ...name];
  const head = [0, ...leb128(content.length + blob.length), ...content];
  const whole = new Uint8Array(runtime.length + head.length + blob.length);
  whole.set(runtime);
  whole.set(head, runtime.length);
  whole.set(blob, runtime.length + head.length);
  return whole;
}

/** A number as WebAssembly writes lengths: seven bits a byte, the lowest first. */
function leb128(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb128(value >>> 7)];
}
