import type { OwnBytes } from './runtime.js';

/** The section's name, `koan`, behind its length. */
const NAME = [4, 107, 111, 97, 110];

/**
 * A runtime that carries a model: `Model.load` of the compiled result needs no
 * second file.
 *
 * @param runtime the bytes of a file of wasm of this package that runs the model
 * @param blob the model's bytes
 */
export function embed(runtime: Uint8Array, blob: Uint8Array): OwnBytes {
  const head = [0, ...leb128(NAME.length + blob.length), ...NAME];
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
