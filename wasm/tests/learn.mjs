// What the module of `tests/learned` learns, in node and on a page.

/** The bytes of the patch. */
export async function learn(module) {
  const { instance } = await WebAssembly.instantiate(await module);
  const { learn, patch, memory } = instance.exports;
  const length = learn();
  return [...new Uint8Array(memory.buffer, patch(), length)];
}
