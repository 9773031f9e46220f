// What the script uses of node; the package itself needs no types of node's.
declare module 'node:fs' {
  export function readFileSync(path: URL): Uint8Array<ArrayBuffer>;
}
interface ImportMeta {
  resolve(name: string): string;
}
