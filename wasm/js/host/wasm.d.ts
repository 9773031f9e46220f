/** Where importing a file of wasm gives its module. */
declare module '*.wasm' {
  const module: WebAssembly.Module;
  export default module;
}
