// `using`, from TypeScript 5.2 on.

import { Model } from 'koan-wasm';

export function use(blob: Uint8Array): number {
  using model = Model.from(blob);
  return model.classify([1, 2]);
}
