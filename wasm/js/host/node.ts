/** Node, Deno and Bun: the wasm is read from the package, and addresses may be files. */

import { readFile } from 'node:fs/promises';
import { fetched, hasSimd } from '../engine.js';
import type { Host } from './host.js';

export const host: Host = {
  runtime: () => readFile(new URL(hasSimd() ? './koan-simd.wasm' : './koan.wasm', import.meta.url)),
  async open(address) {
    const isUrl = address instanceof URL || /^[a-z][a-z0-9+.-]+:/i.test(address);
    if (!isUrl) return readFile(address);
    const url = new URL(address);
    return url.protocol === 'file:' ? readFile(url) : fetched(url);
  },
};
