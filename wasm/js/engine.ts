/** What every engine has. */

/** Whether this engine has WebAssembly SIMD, and so takes the faster build. */
export function hasSimd(): boolean {
  // A module of one function that uses SIMD: valid where SIMD is there.
  // (`i8x16.popcnt`: the last instruction that engines added.)
  // prettier-ignore
  return WebAssembly.validate(new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0,
    10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
  ]));
}

/**
 * Fetches; where there is no answer, the error has the address, which engines leave out.
 *
 * @internal
 */
export const fetched = (address: URL | string): Promise<Response> =>
  fetch(address).catch((cause: Error) => {
    throw new Error(`${address}: ${cause.message}`, { cause });
  });
